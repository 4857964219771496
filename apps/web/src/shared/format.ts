import { computed } from '@preact/signals';
import { language } from './language';

function cached<T>(make: (language: string) => T) {
  return computed(() => make(language.value));
}

const integers = cached((tag) => new Intl.NumberFormat(tag, { maximumFractionDigits: 0 }));
const percents = cached((tag) => new Intl.NumberFormat(tag, { style: 'percent', maximumFractionDigits: 0 }));
const compact = cached((tag) => new Intl.NumberFormat(tag, { notation: 'compact', maximumSignificantDigits: 4 }));
const clock = cached((tag) => new Intl.DateTimeFormat(tag, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }));
const dayAndClock = cached(
  (tag) => new Intl.DateTimeFormat(tag, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
);
const full = cached((tag) => new Intl.DateTimeFormat(tag, { dateStyle: 'full', timeStyle: 'long' }));
const lists = cached((tag) => new Intl.ListFormat(tag, { type: 'conjunction' }));

type Unit = 'millisecond' | 'second' | 'minute' | 'hour' | 'day';

const units = cached((tag) => {
  const made = new Map<string, Intl.NumberFormat>();
  return (value: number, unit: Unit, digits: number) => {
    const key = `${unit}${digits}`;
    let format = made.get(key);
    if (!format) {
      const unitDisplay = unit === 'day' ? 'long' : 'short';
      format = new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay, maximumFractionDigits: digits, minimumFractionDigits: digits });
      made.set(key, format);
    }
    return format.format(value);
  };
});

export const collator = cached((tag) => new Intl.Collator(tag, { numeric: true, sensitivity: 'base' }));

export function formatCount(value: number): string {
  return integers.value.format(value);
}

// Short enough for a column: whole below ten million, four digits above.
export function formatAmount(value: number): string {
  return Math.abs(value) < 1e7 ? integers.value.format(value) : compact.value.format(value);
}

export function formatList(parts: readonly string[]): string {
  return lists.value.format(parts);
}

// A moment of today by its clock, an older one with its day. What is not a time comes back as it was written.
export function formatTime(iso: string, now: number): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return iso;
  return new Date(at).toDateString() === new Date(now).toDateString() ? clock.value.format(at) : dayAndClock.value.format(at);
}

export function formatClock(at: number): string {
  return clock.value.format(at);
}

export function formatFullTime(iso: string): string {
  const at = Date.parse(iso);
  return Number.isNaN(at) ? iso : full.value.format(at);
}

export function formatDuration(ms: number): string {
  const format = units.value;
  if (ms < 1000) return format(Math.max(0, Math.round(ms)), 'millisecond', 0);
  if (ms < 10_000) return format(ms / 1000, 'second', 1);
  return formatAge(ms);
}

// Two units at most: what is three days old is not told in seconds.
export function formatAge(ms: number): string {
  const format = units.value;
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return format(seconds, 'second', 0);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return format(minutes, 'minute', 0);
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 ? `${format(hours, 'hour', 0)} ${format(minutes % 60, 'minute', 0)}` : format(hours, 'hour', 0);
  return format(Math.floor(hours / 24), 'day', 0);
}

export function formatShare(share: number): string {
  return percents.value.format(share);
}
