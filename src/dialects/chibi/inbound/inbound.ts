import { RuntimeError } from '../../../base/errors.ts';
import { toShellLine } from '../../../base/files/shell-line.ts';
import { isObject } from '../../../base/json/json.ts';
import type { DecisionDocument } from '../../../contract/document.ts';
import type {
  Environment,
  Inbound,
  InboundEvent,
  InboundQuestion,
  InboundReply,
  Told,
} from '../../inbound.ts';
import {
  afterExecution,
  beforeExecution,
  beforePrompt,
  changedText,
  contentOf,
  ofSession,
  reasonOf,
  textAt,
} from '../../inbound.ts';

/**
 * chibi calls Signalbox as a plugin: the point in `CHIBI_HOOK`, the payload on stdin. Source: docs/hooks.md of chibi.
 */
export const inbound: Inbound = { read, unreadable, describe, settingsFor: programFor };

interface InboundPoint {
  readonly phase: string;
  toEvent(told: Told): InboundEvent;
}

const points: Readonly<Record<string, InboundPoint>> = {
  on_start: { phase: 'session session_start', toEvent: () => ofSession('session_start', '') },
  on_end: { phase: 'session session_end', toEvent: () => ofSession('session_end', '') },
  pre_message: {
    phase: 'provider before_call',
    toEvent: (told) => beforePrompt('chibi', textAt(told, 'prompt')),
  },
  pre_tool: {
    phase: 'tool before_execution',
    toEvent: (told) => beforeExecution(callOf(told), { agent: 'chibi', session: '', cwd: '' }),
  },
  pre_tool_output: {
    phase: 'tool after_execution',
    toEvent: (told) => afterExecution(callOf(told), { content: contentOf(told['output']) }),
  },
};

function callOf(told: Told) {
  return { name: told['tool_name'], args: told['arguments'] ?? {}, call_id: '' };
}

function describe(phases: ReadonlySet<string> | undefined) {
  const hooks = Object.entries(points).filter(([, { phase }]) => phases === undefined || phases.has(phase));
  return {
    name: 'signalbox_guards',
    description: 'Guards tool calls, their results and prompts. There is nothing in it to call.',
    parameters: { type: 'object', properties: {} },
    hooks: hooks.map(([point]) => point),
  };
}

function unreadable({ message }: RuntimeError): InboundReply {
  const document = Object.assign(
    {},
    ...[...Object.keys(points), 'pre_shell_exec'].map((point) => denial(point, message)),
  );
  return { exitCode: 0, document, stderr: message };
}

function read(told: Told, env: Environment): InboundQuestion {
  const point = env['CHIBI_HOOK'];
  if (point === undefined) {
    const wrong = 'CHIBI_HOOK is not set: chibi runs this command as a hook, not as a tool';
    throw new RuntimeError('EVENT_INVALID', wrong, {
      hint: '`signalbox hook export --dialect chibi` prints the plugin that chibi runs.',
    });
  }
  const known = points[point];
  if (known === undefined)
    throw new RuntimeError('EVENT_INVALID', `this Signalbox does not know the point ${point}`, {
      hint: 'Make chibi read the schema of the plugin again.',
    });
  return {
    events: [known.toEvent(told)],
    toReply: (decision) => reply(toReply(point, decision)),
    toFailure: ({ message }) => ({ ...reply(denial(point, message)), stderr: message }),
  };
}

/** The exit code is always 0: chibi ignores a plugin that exits with another one, and continues. */
function reply(document: Readonly<Record<string, unknown>>): InboundReply {
  return { exitCode: 0, document, stderr: '' };
}

type Fields = Readonly<Record<string, unknown>>;

export function toReply(point: string, decision: DecisionDocument): Fields {
  const { verdict } = decision;
  if (verdict === 'allow') return {};
  const changed = verdict === 'modify' ? changes[point]?.(decision) : undefined;
  if (changed !== undefined) return changed;
  const unable = verdict === 'modify' ? '. It cannot be changed here.' : '';
  return denial(point, `${reasonOf(decision)}${unable}`);
}

const changes: Readonly<Record<string, (decision: DecisionDocument) => Fields | undefined>> = {
  pre_message: (decision) => {
    const prompt = changedText(decision);
    return prompt === undefined ? undefined : { prompt };
  },
  pre_tool: ({ replace }) => (isObject(replace?.['args']) ? { arguments: replace['args'] } : undefined),
  pre_tool_output: ({ replace }) =>
    typeof replace?.['content'] === 'string' ? { output: replace['content'] } : undefined,
};

/** A chibi plugin cannot end a turn before the model call, so the model reads the reason in place of the prompt. */
export function denial(point: string, reason: string): Fields {
  switch (point) {
    case 'pre_message':
      return { prompt: `[withheld: ${reason}]` };
    case 'pre_tool':
    case 'pre_tool_output':
      return { block: true, message: reason };
    case 'pre_file_read':
    case 'pre_file_write':
    case 'pre_shell_exec':
    case 'pre_fetch_url':
      return { denied: true, reason };
    default:
      return {};
  }
}

/** The text of a plugin that runs a command. The file needs an exec bit and belongs in chibi's plugin folder. */
export function programFor(words: readonly string[]): string {
  return `#!/bin/sh\nexec ${toShellLine(words)} "$@"`;
}
