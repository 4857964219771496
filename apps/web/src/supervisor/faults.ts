import { formatCount } from '../shared/format';
import { CallError } from './rpc';
import type { Words } from './words';

// Why something was refused: in the page's language where the code is known, else the supervisor's own sentence.
export function why(w: Words, error: unknown): string {
  if (!(error instanceof CallError)) return String(error);
  const { code, args, message } = error;
  const text = (name: string) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  switch (code) {
    case 'disconnected':
      return w.fault.disconnected;
    case 'unknown-agent':
      return w.fault.unknownAgent(text('agent'));
    case 'unknown-channel':
      return w.fault.unknownChannel;
    case 'empty-text':
      return w.fault.emptyText;
    case 'text-too-long':
      return w.fault.textTooLong(Number.isFinite(Number(text('limit'))) ? formatCount(Number(text('limit'))) : text('limit'));
    case 'unknown-permission':
      return w.fault.unknownPermission;
    case 'unknown-option':
      return w.fault.unknownOption(text('option'));
    case 'agent-failed':
      // The reason is the agent's own, in whatever language it has.
      return message || w.fault.agentFailed(text('agent'));
    case 'queue-full':
      return w.fault.queueFull;
    case 'bad-params':
      return w.fault.badParams(text('param'));
    case 'unknown-method':
      return w.fault.unknownMethod(text('method'));
    default:
      return message || w.fault.unexplained;
  }
}
