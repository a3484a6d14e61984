import { RuntimeError } from '../../../errors.ts';
import type {
  Environment,
  Inbound,
  InboundEvent,
  InboundQuestion,
  InboundReply,
  Told,
} from '../../../inbound/inbound.ts';
import {
  afterExecution,
  beforeExecution,
  beforePrompt,
  contentOf,
  ofSession,
  textAt,
} from '../../../inbound/native-event.ts';
import { programFor } from './program.ts';
import { denial, toReply } from './reply.ts';

/** chibi asks one of its plugins: a point of `CHIBI_HOOK`, its payload on stdin (docs/hooks.md of chibi). */
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
    // Neither session nor folder are told.
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

/** The answer at a point that is not known: what denies at any. */
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
    const wrong = 'CHIBI_HOOK is not set: chibi runs this as a hook, and it is no tool';
    throw new RuntimeError('EVENT_INVALID', wrong, {
      hint: '`signalbox hook export --dialect chibi` prints the plugin that chibi runs.',
    });
  }
  const known = points[point];
  if (known === undefined)
    throw new RuntimeError('EVENT_INVALID', `the point ${point} is none that this Signalbox is asked at`, {
      hint: 'Let chibi read the schema of the plugin anew.',
    });
  return {
    events: [known.toEvent(told)],
    toReply: (decision) => reply(toReply(point, decision)),
    toFailure: ({ message }) => ({ ...reply(denial(point, message)), stderr: message }),
  };
}

/** Always with exit code 0: from another one chibi concludes nothing, and goes on. */
function reply(document: Readonly<Record<string, unknown>>): InboundReply {
  return { exitCode: 0, document, stderr: '' };
}
