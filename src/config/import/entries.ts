import { isObject } from '../../json/json.ts';
import type { Path } from '../../yaml/document.ts';
import { itemsAt, valueAt } from '../../yaml/read.ts';
import { suggest } from '../../yaml/suggest.ts';
import { agentaoEvents } from '../agentao-events.ts';
import { claudeEvents } from '../claude-events.ts';
import { readRule, reportSkippedRule, unknownType } from './agentao.ts';
import { readGroup } from './claude.ts';
import type { AgentaoDraft, ClaudeDraft } from './draft.ts';
import type { ImportContext } from './reading.ts';

/** The dialect that all entries of a file must have; undefined: each may have its own. */
export type EntryDialect = 'claude' | 'agentao' | undefined;

/** Every handler and rule under the mapping of events at `path`, in the order of the file. */
export function readEvents(
  context: ImportContext,
  path: Path,
  form: EntryDialect,
): (ClaudeDraft | AgentaoDraft)[] {
  const { document, addFinding } = context;
  if (!isObject(valueAt(document, path))) {
    addFinding({ severity: 'error', path, message: 'hooks must be a JSON object' });
    return [];
  }
  return document.keysOf(path).flatMap((event) => {
    const at = [...path, event];
    if (!isEvent(event, form)) {
      addFinding({ severity: 'warning', path: at, atKey: true, ...describeUnknown(event, form) });
      return [];
    }
    const items = Array.isArray(valueAt(document, at)) ? itemsAt(document, at) : [at];
    return items.flatMap((item) => readEntry(context, { event, form }, item));
  });
}

function isEvent(event: string, form: EntryDialect): boolean {
  return knownEvents(form).includes(event);
}

function knownEvents(form: EntryDialect): readonly string[] {
  if (form === 'claude') return claudeEvents;
  return form === 'agentao' ? agentaoEvents : [...new Set([...claudeEvents, ...agentaoEvents])];
}

function describeUnknown(event: string, form: EntryDialect): { message: string; hint?: string } {
  const known = knownEvents(form);
  if (form !== 'claude') {
    return { message: `Unsupported hook event '${event}' — skipped`, ...suggest(event, known) };
  }
  return { message: `there is no event ${event}; its handlers never run`, ...suggest(event, known) };
}

function readEntry(
  context: ImportContext,
  { event, form }: { readonly event: string; readonly form: EntryDialect },
  path: Path,
): (ClaudeDraft | AgentaoDraft)[] {
  const entry = valueAt(context.document, path);
  const own = entryDialectOf(entry);
  if (own === undefined && form === 'agentao') {
    const message = isObject(entry)
      ? unknownType(entry['type'] ?? '', event)
      : `Hook entry under '${event}' is not an object — skipped`;
    reportSkippedRule(context, { event, path, message });
    return [];
  }
  if (own === undefined || (form !== undefined && form !== own)) {
    context.addFinding({ severity: 'error', path, ...(own === undefined ? unknownForm : wrongDialect[own]) });
    return [];
  }
  if (own === 'claude') return readGroup(context, event, path);
  if (isEvent(event, 'agentao')) return readRule(context, event, path);
  reportSkippedRule(context, { event, path, message: `Unsupported hook event '${event}' — skipped` });
  return [];
}

/** A Claude group has a list `hooks`, an Agentao rule has a `type`. */
function entryDialectOf(entry: unknown): EntryDialect {
  if (!isObject(entry)) return undefined;
  if (Array.isArray(entry['hooks']) && !Object.hasOwn(entry, 'type')) return 'claude';
  return Object.hasOwn(entry, 'type') && !Object.hasOwn(entry, 'hooks') ? 'agentao' : undefined;
}

const unknownForm = {
  message: 'is neither a Claude Code group nor an Agentao rule',
  hint: 'A group is {"matcher": "Bash", "hooks": [{"type": "command", "command": "…"}]}, a rule {"type": "command", "command": "…"}.',
};

const wrongDialect = {
  claude: {
    message: 'is a Claude Code group, and the import says dialect: agentao',
    hint: 'Leave `dialect` out of the import: then each entry goes to the system whose form it has.',
  },
  agentao: {
    message: 'is an Agentao rule, and the import says dialect: claude',
    hint: 'Leave `dialect` out of the import: then each entry goes to the system whose form it has.',
  },
} as const;
