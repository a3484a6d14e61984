import { basename, resolve } from 'node:path';
import { type ErrorCode, RuntimeError, toRuntimeError } from '../../../base/errors.ts';
import { findScript } from '../../../base/files/script.ts';
import { isObject, Json, parseLossless, stringifyJson } from '../../../base/json/json.ts';
import { parseDocument } from '../../../base/yaml/document.ts';
import { readReply } from '../../../calls/capability/invoke.ts';
import { readEvent } from '../../../calls/hooks/event-input.ts';
import { buildConfig } from '../../../config/build/build.ts';
import type { RuntimeConfig } from '../../../config/config.ts';
import type { Reply } from '../../../contract/exchange.ts';
import { type Phase, phasesOf } from '../../../contract/hook.ts';
import { noopScrubber } from '../../../contract/scrub.ts';
import { describeExit } from '../../../dialects/body.ts';
import type { Codec } from '../../../dialects/dialect.ts';
import { requireNative, requireToolCodec } from '../../../dialects/registry.ts';
import { toEvalRequest } from '../../../pipelines/run/eval-request.ts';
import type { Binding } from '../../../process/binding.ts';
import type { Entries } from '../../stages/resolve.ts';
import { sampleEvent } from '../sample-events.ts';

export type ConformKind = 'tool' | 'filter' | 'observer' | 'eval';

/** The form of one kind of request, and the runtime's own reading of its replies. */
export interface Speech {
  /** The request as the process receives it, with `text` in it. */
  encode(text: string): string;
  /** Whether the reply lets something happen: it allows or scores. Throws as the codec does. */
  permits(reply: Reply): boolean;
}

/** A program and what it is asked. */
export interface Subject {
  readonly name: string;
  readonly kind: ConformKind;
  readonly binding: Binding;
  /** One for each phase of a hook. */
  readonly speeches: readonly [Speech, ...Speech[]];
}

export interface Script {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: readonly string[] | undefined;
}

interface Place {
  readonly folder: string;
  readonly phase?: Phase | undefined;
}

/** A config with the entry of a script alone, which sets nothing else. It has the name of the entry. */
export function configOf(kind: ConformKind, script: Script, place: Place): RuntimeConfig {
  const { command, args, env = [] } = script;
  const exec = { command, args, env };
  const index = findScript(command, args);
  const file = basename(index === undefined ? command : (args[index] ?? ''));
  const name = file.replace(/\.\w+$/, '') || file;
  const { folder, phase = kind === 'filter' ? 'before_execution' : 'after_execution' } = place;
  const isOwn = ([, phases]: readonly [string, readonly Phase[]]) => phases.includes(phase);
  const [hook] = Object.entries(phasesOf).find(isOwn) ?? [];
  const mode = kind === 'filter' ? 'filter' : 'observe';
  const spec = {
    ...(kind === 'tool' && { tools: { [name]: { exec } } }),
    ...(kind === 'eval' && { evals: { [name]: exec } }),
    ...(isHook(kind) && { hooks: { [name]: { ...exec, hook, phases: [phase], mode } } }),
  };
  const document = parseDocument('conform', JSON.stringify({ metadata: { name }, spec }));
  return buildConfig(document, folder, { foreign: [], imports: [] });
}

function isHook(kind: ConformKind): kind is 'filter' | 'observer' {
  return kind === 'filter' || kind === 'observer';
}

/** Finds the entry with that name, or the one that starts that file. Throws NAME_UNKNOWN, and USAGE for several. */
export function findSubject(entries: Entries, wanted: string, file: string): Subject {
  const all = subjectsIn(entries);
  const named = all.filter(({ name }) => name === wanted);
  const starts = ({ binding: { command, args, cwd } }: Subject) => {
    const script = findScript(command, args);
    const files = [command, ...(script === undefined ? [] : [resolve(cwd, args[script] ?? '')])];
    return files.includes(resolve(wanted));
  };
  const found = named.length > 0 ? named : all.filter(starts);
  const [subject, other] = found;
  if (subject === undefined)
    throw new RuntimeError('NAME_UNKNOWN', `${file} declares no native tool, eval or hook ${wanted}`, {
      hint: 'For a script without an entry, add --kind tool, filter, observer or eval.',
    });
  if (other === undefined) return subject;
  const names = [...new Set(found.map(({ name }) => name))].join(', ');
  throw new RuntimeError('USAGE', `${file} has several entries for ${wanted}: ${names}`, {
    hint: 'Name one of them, or say what the script is with --kind.',
  });
}

function subjectsIn({ tools, evals, hooks }: Entries): Subject[] {
  const ofTools = tools.flatMap(({ config: { name }, resolved }): Subject[] => {
    if (resolved === undefined) return [];
    const { binding } = resolved;
    const codec = requireToolCodec(binding.dialect);
    const input = (text: string) => ({ name, callId: 'call_1', args: Json.from({ text }) });
    const own = speech({ codec, input, permits: ({ status }) => status === 'ok', report: 'TOOL_ERROR' });
    return [{ name, kind: 'tool', binding, speeches: [own] }];
  });
  const ofEvals = evals.map(({ config: { name }, resolved: { binding } }): Subject => {
    const { eval: codec } = requireNative(binding.dialect);
    const input = (content: string) => toEvalRequest(name, { content });
    const own = speech({ codec, input, permits: ({ status }) => status === 'scored', report: 'EVAL_ERROR' });
    return { name, kind: 'eval', binding, speeches: [own] };
  });
  const ofHooks = hooks.flatMap(({ config: { name, mode, phases }, resolved: { binding } }): Subject[] => {
    const kind = mode === 'observe' ? 'observer' : 'filter';
    const [first, ...rest] = phases.map((phase) => hookSpeech(kind, phase, binding.dialect));
    if (first === undefined || binding.endpoint !== null) return [];
    return [{ name, kind, binding, speeches: [first, ...rest] }];
  });
  return [...ofTools, ...ofEvals, ...ofHooks];
}

function hookSpeech(kind: 'filter' | 'observer', phase: Phase, dialect: string): Speech {
  const { hook: codec } = requireNative(dialect);
  const input = (text: string) => readEvent(sampleEvent(phase, text));
  const own = speech({ codec, input, permits: ({ verdict }) => verdict === 'allow' || verdict === 'modify' });
  return kind === 'filter' ? own : { ...own, permits: requireEnd };
}

/** The reply of an observer is ignored, but not its exit code. */
function requireEnd(reply: Reply): false {
  if (reply.via === 'rpc' || reply.exitCode === 0) return false;
  const code = reply.signal === null ? 'PROCESS_EXIT' : 'PROCESS_SIGNAL';
  throw new RuntimeError(code, `the process ${describeExit(reply)}`);
}

interface Form<Input, Output> {
  readonly codec: Codec<Input, Output>;
  readonly input: (text: string) => Input;
  readonly permits: (output: Output) => boolean;
  /** The code of an error that the program itself reports, which is an answer. */
  readonly report?: ErrorCode;
}

function speech<Input, Output extends object>({
  codec,
  input,
  permits,
  report,
}: Form<Input, Output>): Speech {
  const read = (reply: Reply) => codec.decode(reply, input(''));
  return {
    encode: (text) => codec.encode(input(text)).body,
    permits: (reply) => {
      try {
        return permits(readReply(reply, noopScrubber, read).output);
      } catch (thrown) {
        if (toRuntimeError(thrown).code === report) return false;
        throw thrown;
      }
    },
  };
}

/** Asks a request of the user's own. Texts go into a member that no program knows. Throws USAGE. */
export function withRequest(subject: Subject, request: string): Subject {
  const { kind, binding, speeches } = subject;
  const value = parseLossless(request);
  if (!isObject(value)) throw new RuntimeError('USAGE', '--request is not a JSON object');
  const phases: readonly Phase[] = Object.values(phasesOf).flat();
  const phase = phases.find((each) => each === value['phase']);
  if (kind === 'filter' && phase === undefined)
    throw new RuntimeError('USAGE', '--request names no phase of a hook', {
      hint: 'Give all that the script reads: {"hook": "tool", "phase": "before_execution", "request": {…}}.',
    });
  const own = isHook(kind) && phase !== undefined ? hookSpeech(kind, phase, binding.dialect) : speeches[0];
  const encode = (text: string) => stringifyJson(text === PLAIN ? value : { ...value, x_text: text });
  return { ...subject, speeches: [{ ...own, encode }] };
}

/** The text of a request that is asked as it is. */
export const PLAIN = 'sample';
