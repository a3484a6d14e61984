import { isObject } from '../../json/json.ts';
import type { Path } from '../../yaml/document.ts';
import { itemsAt, valueAt } from '../../yaml/read.ts';
import { suggest } from '../../yaml/suggest.ts';
import { agentaoEvents } from '../agentao-events.ts';
import { claudeEvents } from '../claude-events.ts';
import { readRule, skipRule, unknownType } from './agentao.ts';
import { readGroup } from './claude.ts';
import type { AgentaoDraft, ClaudeDraft } from './draft.ts';
import type { Reading } from './reading.ts';

/** Whose form the entries of a file must have; undefined: each its own. */
export type Form = 'claude' | 'agentao' | undefined;

/** Every handler and rule under the mapping of events at `path`, in the order of the file. */
export function readEvents(reading: Reading, path: Path, form: Form): (ClaudeDraft | AgentaoDraft)[] {
  const { document, say } = reading;
  if (!isObject(valueAt(document, path))) {
    say({ severity: 'error', path, message: 'hooks must be a JSON object' });
    return [];
  }
  return document.keysOf(path).flatMap((event) => {
    const at = [...path, event];
    if (!isEvent(event, form)) {
      say({ severity: 'warning', path: at, atKey: true, ...describeUnknown(event, form) });
      return [];
    }
    const items = Array.isArray(valueAt(document, at)) ? itemsAt(document, at) : [at];
    return items.flatMap((item) => readEntry(reading, { event, form }, item));
  });
}

function isEvent(event: string, form: Form): boolean {
  return knownEvents(form).includes(event);
}

function knownEvents(form: Form): readonly string[] {
  if (form === 'claude') return claudeEvents;
  return form === 'agentao' ? agentaoEvents : [...new Set([...claudeEvents, ...agentaoEvents])];
}

function describeUnknown(event: string, form: Form): { message: string; hint?: string } {
  const known = knownEvents(form);
  if (form !== 'claude') {
    return { message: `Unsupported hook event '${event}' — skipped`, ...suggest(event, known) };
  }
  return { message: `there is no event ${event}; its handlers never run`, ...suggest(event, known) };
}

function readEntry(
  reading: Reading,
  { event, form }: { readonly event: string; readonly form: Form },
  path: Path,
): (ClaudeDraft | AgentaoDraft)[] {
  const entry = valueAt(reading.document, path);
  const own = formOf(entry);
  if (own === undefined && form === 'agentao') {
    const message = isObject(entry)
      ? unknownType(entry['type'] ?? '', event)
      : `Hook entry under '${event}' is not an object — skipped`;
    skipRule(reading, { event, path, message });
    return [];
  }
  if (own === undefined || (form !== undefined && form !== own)) {
    reading.say({ severity: 'error', path, ...(own === undefined ? formless : strangers[own]) });
    return [];
  }
  if (own === 'claude') return readGroup(reading, event, path);
  if (isEvent(event, 'agentao')) return readRule(reading, event, path);
  skipRule(reading, { event, path, message: `Unsupported hook event '${event}' — skipped` });
  return [];
}

/** A Claude group has a list `hooks`, an Agentao rule has a `type`. */
function formOf(entry: unknown): Form {
  if (!isObject(entry)) return undefined;
  if (Array.isArray(entry['hooks']) && !Object.hasOwn(entry, 'type')) return 'claude';
  return Object.hasOwn(entry, 'type') && !Object.hasOwn(entry, 'hooks') ? 'agentao' : undefined;
}

const formless = {
  message: 'is neither a Claude Code group nor an Agentao rule',
  hint: 'A group is {"matcher": "Bash", "hooks": [{"type": "command", "command": "…"}]}, a rule {"type": "command", "command": "…"}.',
};

const strangers = {
  claude: {
    message: 'is a Claude Code group, and the import says dialect: agentao',
    hint: 'Leave `dialect` out of the import: then each entry goes to the system whose form it has.',
  },
  agentao: {
    message: 'is an Agentao rule, and the import says dialect: claude',
    hint: 'Leave `dialect` out of the import: then each entry goes to the system whose form it has.',
  },
} as const;
