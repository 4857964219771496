// What docs/protocols/rpc.md says, as types. Made by `watchbill-supervisor rpc schema`: change
// apps/supervisor/src/rpc_table.hpp instead.

export type AgentState = 'stopped' | 'starting' | 'ready' | 'busy' | 'error';
export type Agent = { name: string; title: string; icon: string; description: string; state: AgentState; error: string; outdated: boolean };
export type Channel = { id: string; name: string; description: string; direct: string; members: string[] };
export type ToolKind = 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'think' | 'fetch' | 'other';
export type ToolStatus = 'pending' | 'in_progress' | 'completed' | 'failed';
export type Location = { path: string; line?: number };
export type Diff = { path: string; oldText: string; newText: string; newFile: boolean };
export type ToolCall = { id: string; title: string; kind: ToolKind; status: ToolStatus; input: string; output: string; locations: Location[]; diffs: Diff[] };
export type PlanEntry = { content: string; priority: 'high' | 'medium' | 'low'; status: 'pending' | 'in_progress' | 'completed' };
export type Part = { kind: 'text' | 'thought'; text: string } | { kind: 'tool'; tool: ToolCall } | { kind: 'plan'; entries: PlanEntry[] };
export type Message = { id: string; channel: string; createdAt: string; agent: string; role: 'user' | 'agent' | 'system'; parts: Part[]; done: boolean; queued: boolean; stopReason: string; error: string; code: string };
export type PermissionOption = { optionId: string; name: string; kind: string };
export type Permission = { id: string; channel: string; agent: string; messageId: string; toolCall: ToolCall; options: PermissionOption[]; rejections: number };
export type Usage = { used: number; size: number };
export type Command = { name: string; description: string; hint: string };
export type Problem = { line: number; column: number; message: string; warning: boolean };
export type Current = { path: string; source: 'flag' | 'recent' | 'default'; created: boolean; valid: boolean; problems: Problem[]; warnings: Problem[]; theme: 'system' | 'light' | 'dark'; language: 'system' | 'en' | 'fr'; historyProblem: string };
export type Conversation = { channel: Channel; messages: Message[]; more: boolean; busy: boolean; queued: number; answering: string; usage: Record<string, Usage>; permissions: Permission[] };
export type Page = { messages: Message[]; more: boolean };

export interface Methods {
  'AgentService.List': { params: []; result: Agent[] };
  'AgentService.Start': { params: [name: string]; result: null };
  'AgentService.Stop': { params: [name: string]; result: null };
  'AgentService.Restart': { params: [name: string]; result: null };
  'AgentService.Logs': { params: [name: string]; result: string[] };
  'ConfigService.Current': { params: []; result: Current };
  'ChannelService.List': { params: []; result: Channel[] };
  'ChannelService.Direct': { params: [agent: string]; result: Channel };
  'ChannelService.Send': { params: [id: string, text: string]; result: string };
  'ChannelService.Cancel': { params: [id: string]; result: null };
  'ChannelService.AnswerPermission': { params: [id: string, optionId: string]; result: null };
  'ChannelService.Conversation': { params: [id: string]; result: Conversation };
  'ChannelService.Older': { params: [id: string, beforeId: string]; result: Page };
  'ChannelService.Commands': { params: [agent: string]; result: Command[] };
}

export interface Events {
  'agent:state': { agent: string; state: AgentState; error?: string; outdated: boolean };
  'agent:log': { agent: string; line: string };
  'channels:changed': { channels: Channel[] };
  'message:updated': { channel: string; message: Message };
  'message:delta': { channel: string; messageId: string; index: number; kind: Part['kind']; text?: string; part?: Part };
  'turn:changed': { channel: string; busy: boolean; queued: number; answering: string };
  'permission:requested': Permission;
  'permission:resolved': { id: string; channel: string };
  'usage:changed': { channel: string; agent: string; usage: Usage };
  'commands:changed': { agent: string; commands: Command[] };
}
