// What agents ask to be allowed, in all conversations: whoever is asked in one has to be told of it in the others.
import { computed, signal } from '@preact/signals';
import { rpc } from './connection';
import type { Permission, PermissionOption } from './rpc_types';

const kAnsweredKept = 500;

export const pending = signal<ReadonlyMap<string, Permission>>(new Map());

// A question that is over, as it stays in its message. `option` is null where this page did not answer it: another
// one did, or a Stop.
export interface Answered {
  permission: Permission;
  option: PermissionOption | null;
}

export const answered = signal<readonly Answered[]>([]);

// Who asks, and how many times.
export const askers = computed(() => {
  const counts = new Map<string, number>();
  for (const { agent } of pending.value.values()) counts.set(agent, (counts.get(agent) ?? 0) + 1);
  return counts;
});

// What this page answered, until the supervisor says that the question is resolved.
const given = new Map<string, PermissionOption>();

type Asked = (permission: Permission) => void;
const hearers: Asked[] = [];

// Hears of every question as it is asked.
export function onAsked(heard: Asked): void {
  hearers.push(heard);
}

function change(alter: (all: Map<string, Permission>) => void): void {
  const all = new Map(pending.peek());
  alter(all);
  pending.value = all;
}

function over(permission: Permission): void {
  answered.value = [...answered.peek(), { permission, option: given.get(permission.id) ?? null }].slice(-kAnsweredKept);
  given.delete(permission.id);
}

// The supervisor's whole word on one channel.
export function keep(channel: string, permissions: readonly Permission[]): void {
  const still = new Set(permissions.map(({ id }) => id));
  change((all) => {
    for (const [id, permission] of all) {
      if (permission.channel !== channel || still.has(id)) continue;
      all.delete(id);
      over(permission);
    }
    for (const permission of permissions) all.set(permission.id, permission);
  });
}

rpc.on('permission:requested', (permission) => {
  change((all) => all.set(permission.id, permission));
  for (const heard of hearers) heard(permission);
});

rpc.on('permission:resolved', ({ id }) => {
  const permission = pending.peek().get(id);
  if (!permission) return;
  over(permission);
  change((all) => all.delete(id));
});

export async function answer(permission: Permission, option: PermissionOption): Promise<void> {
  given.set(permission.id, option);
  try {
    await rpc.call('ChannelService.AnswerPermission', permission.id, option.optionId);
  } catch (error) {
    given.delete(permission.id);
    throw error;
  }
}
