import { basename, resolve } from 'node:path';
import { type ErrorCode, RuntimeError, toRuntimeError } from '../../../base/errors.ts';
import { findScript } from '../../../base/files/script.ts';
import { isObject, Json, parseLossless, stringifyJson } from '../../../base/json/json.ts';
import { parseDocument } from '../../../base/yaml/document.ts';
import { readReply } from '../../../calls/capability/invoke.ts';
import { buildConfig } from '../../../config/build/build.ts';
import { type ImportedEntry, mergeEntries } from '../../../config/import/entries.ts';
import type { Reply } from '../../../contract/exchange.ts';
import { type Phase, phasesOf } from '../../../contract/hook.ts';
import { noopScrubber } from '../../../contract/scrub.ts';
import { describeExit } from '../../../dialects/body.ts';
import type { Codec, Decoded } from '../../../dialects/dialect.ts';
import { requireNative, requireToolCodec } from '../../../dialects/registry.ts';
import { toEvalRequest } from '../../../pipelines/run/eval-request.ts';
import type { Binding } from '../../../process/binding.ts';
import type { HostEnv } from '../../../process/env.ts';
import type { Entries } from '../../stages/resolve.ts';
import { resolveEntries } from '../../stages/resolve.ts';
import { allPhases, sampleNative } from '../sample-events.ts';

export const conformKinds = ['tool', 'filter', 'observer', 'eval'] as const;
export type ConformKind = (typeof conformKinds)[number];

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

/** The entry of a config for a script. A phase that is absent is the usual one of the kind. */
function entryOf(
  kind: ConformKind,
  { command, args, env = [] }: Script,
  more: { readonly name: string; readonly phases?: readonly Phase[] | undefined; readonly value?: object },
): ImportedEntry {
  const exec = { command, ...(args.length > 0 && { args }), ...(env.length > 0 && { env }) };
  const { name, value } = more;
  if (kind === 'tool') return { section: 'tools', name, value: { ...value, exec } };
  if (kind === 'eval') return { section: 'evals', name, value: { ...exec, ...value } };
  const [phase, ...others] = more.phases ?? [kind === 'filter' ? 'before_execution' : 'after_execution'];
  const hook = Object.entries(phasesOf).find(([, phases]) => phases.some((each) => each === phase))?.[0];
  const mode = kind === 'observer' && (hook === 'tool' || hook === 'provider') ? { mode: 'observe' } : {};
  const phases = hook === 'eval' ? {} : { phases: [phase, ...others] };
  return { section: 'hooks', name, value: { ...exec, hook, ...phases, ...mode, ...value } };
}

/** A script that no config declares, with the environment and limits of an entry with default values. */
export function subjectOf(
  kind: ConformKind,
  script: Script,
  {
    folder,
    host,
    phases,
  }: { readonly folder: string; readonly host: HostEnv; readonly phases?: readonly Phase[] | undefined },
): Subject {
  const text = mergeEntries('', [entryOf(kind, script, { name: nameOf(script), phases })]);
  const config = buildConfig(parseDocument('conform', text), folder, { foreign: [], imports: [] });
  const [subject] = subjectsIn(resolveEntries(config, host));
  if (subject === undefined) throw new RuntimeError('INTERNAL', 'the script has no entry');
  return subject;
}

function nameOf({ command, args }: Script): string {
  const script = findScript(command, args);
  return basename(script === undefined ? command : (args[script] ?? command)).replace(/\.\w+$/, '');
}

/** Finds the entry with that name, or the one that starts that file. Throws NAME_UNKNOWN, and USAGE for several. */
export function findSubject(entries: Entries, wanted: string, file: string): Subject {
  const all = subjectsIn(entries);
  const named = all.filter(({ name }) => name === wanted);
  const path = resolve(wanted);
  const starts = ({ command, args, cwd }: Binding) => {
    const script = findScript(command, args);
    return command === path || (script !== undefined && resolve(cwd, args[script] ?? '') === path);
  };
  const found = named.length > 0 ? named : all.filter(({ binding }) => starts(binding));
  const [subject, other] = found;
  if (subject !== undefined && other === undefined) return subject;
  if (other !== undefined) {
    const names = [...new Set(found.map(({ name }) => name))].join(', ');
    const hint = 'Name one of them, or say what the script is with --kind.';
    throw new RuntimeError('USAGE', `${file} has several entries for ${wanted}: ${names}`, { hint });
  }
  throw new RuntimeError('NAME_UNKNOWN', `${file} declares no native tool, eval or hook ${wanted}`, {
    hint: `For a script without an entry, add --kind ${conformKinds.join('|')}.`,
  });
}

function subjectsIn({ tools, evals, hooks }: Entries): Subject[] {
  const ofTools = tools.flatMap(({ config: { name }, resolved }): Subject[] => {
    if (resolved === undefined) return [];
    const { binding } = resolved;
    return [{ name, kind: 'tool', binding, speeches: [toolSpeech(name, binding.dialect)] }];
  });
  const ofEvals = evals.map(({ config: { name }, resolved: { binding } }): Subject => {
    return { name, kind: 'eval', binding, speeches: [evalSpeech(name, binding.dialect)] };
  });
  const ofHooks = hooks.flatMap(({ config: { name, mode, phases }, resolved: { binding } }): Subject[] => {
    const kind = mode === 'observe' ? 'observer' : 'filter';
    const [first, ...rest] = phases.map((phase) => hookSpeech(kind, phase, binding.dialect));
    if (first === undefined || binding.endpoint !== null) return [];
    return [{ name, kind, binding, speeches: [first, ...rest] }];
  });
  return [...ofTools, ...ofEvals, ...ofHooks];
}

function toolSpeech(name: string, dialect: string): Speech {
  const codec = requireToolCodec(dialect);
  const call = (text: string) => ({ name, callId: 'call_1', args: Json.from({ text }) });
  return reporting(speech(codec, call, ({ status }) => status === 'ok'));
}

function evalSpeech(name: string, dialect: string): Speech {
  const codec = requireNative(dialect).eval;
  const request = (content: string) => toEvalRequest(name, { content });
  return reporting(speech(codec, request, ({ status }) => status === 'scored'));
}

function hookSpeech(kind: 'filter' | 'observer', phase: Phase, dialect: string): Speech {
  const { hook: codec } = requireNative(dialect);
  const event = (text: string) => sampleNative(phase, text);
  if (kind === 'filter')
    return speech(codec, event, ({ verdict }) => verdict === 'allow' || verdict === 'modify');
  return { ...speech(codec, event, () => false), permits: requireEnd };
}

/** The reply of an observer is ignored, but not its exit code. */
function requireEnd(reply: Reply): false {
  if (reply.via === 'rpc' || reply.exitCode === 0) return false;
  const code = reply.signal === null ? 'PROCESS_EXIT' : 'PROCESS_SIGNAL';
  throw new RuntimeError(code, `the process ${describeExit(reply)}`);
}

function speech<Input, Output extends object>(
  { encode, decode }: Codec<Input, Output>,
  inputOf: (text: string) => Input,
  permits: (output: Output) => boolean,
): Speech {
  const sample = inputOf('');
  const read = (reply: Reply): Decoded<Output> => decode(reply, sample);
  return {
    encode: (text) => encode(inputOf(text)).body,
    permits: (reply) => permits(readReply(reply, noopScrubber, read).output),
  };
}

/** Counts an error that the program itself reports as an answer. */
function reporting({ encode, permits }: Speech): Speech {
  const isReport = (code: ErrorCode) => code === 'TOOL_ERROR' || code === 'EVAL_ERROR';
  const orReport = (reply: Reply) => {
    try {
      return permits(reply);
    } catch (thrown) {
      if (isReport(toRuntimeError(thrown).code)) return false;
      throw thrown;
    }
  };
  return { encode, permits: orReport };
}

/**
 * Asks a request of the user's own in place of made-up ones. Texts go into a member that no program knows. Throws
 * USAGE if it is not what a hook of these phases reads.
 */
export function withRequest(subject: Subject, request: string): Subject {
  const value = parseLossless(request);
  if (!isObject(value)) throw new RuntimeError('USAGE', '--request is not a JSON object');
  const phase = allPhases.find((each) => each === value['phase']);
  const isHook = subject.kind === 'filter' || subject.kind === 'observer';
  if (isHook && phase === undefined && subject.kind === 'filter') {
    const hint =
      'Give the whole request as the process reads it: {"hook": "tool", "phase": "before_execution", "request": {…}}.';
    throw new RuntimeError('USAGE', '--request names no phase of a hook', { hint });
  }
  const { dialect } = subject.binding;
  const [own] =
    isHook && phase !== undefined
      ? [hookSpeech(subject.kind === 'filter' ? 'filter' : 'observer', phase, dialect)]
      : subject.speeches;
  const encode = (text: string) => stringifyJson(text === PLAIN ? value : { ...value, x_text: text });
  return { ...subject, speeches: [{ ...own, encode }] };
}

/** The text of a request that is asked as it is. */
export const PLAIN = 'sample';
