import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isTextTooDeep, isTooDeep, MAX_JSON_DEPTH } from '../../base/json/depth.ts';
import { findDuplicateKey } from '../../base/json/duplicate-key.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { jsonHint } from '../../base/json/parse.ts';
import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import { isSameJson } from '../../calls/tool-call/before-execution.ts';
import type { RunLabels } from '../../contract/run.ts';
import type { Claim, NewRun, RunRecord, Store } from '../../store/store.ts';
import type { Pipeline } from '../file/pipeline.ts';

/** What the caller of a new run says of it. */
export interface StartOptions {
  /** The run's id, of up to 128 letters, digits, points, dashes and underscores. Of several starts with one id the first makes the run. */
  readonly id?: string | undefined;
  /** By which it is found again: up to 16, of up to 63 and 256 characters. */
  readonly labels?: RunLabels | undefined;
}

interface RunToKeep extends StartOptions {
  readonly input: Json;
  readonly isDispatched?: true | undefined;
}

/** The run of a start: kept with it, or by an earlier start with the same id. */
interface KeptRun {
  readonly id: string;
  readonly isNew: boolean;
  /** Of a new one that whoever keeps it executes. */
  readonly claim?: Claim | undefined;
}

interface KeepContext {
  readonly store: Store;
  readonly config: string;
  readonly buildOf?: ((source: string) => string) | undefined;
}

/**
 * Keeps a new run of a pipeline, unless there is one of the given id. Throws what `requireReady` throws before a new one is kept, USAGE, INPUT_INVALID, STORE_FAILED, and RUN_ID_TAKEN when
 * the run of that id is one of another pipeline or input.
 */
export async function keepRun(
  { store, config, buildOf }: KeepContext,
  pipeline: Pipeline,
  { input, id, labels, isDispatched }: RunToKeep,
  requireReady: () => void = () => {},
): Promise<KeptRun> {
  const { name, file, source, pipelines } = pipeline;
  const given = { kind: 'pipeline', name, file, source, config, input } as const;
  const kept = readLabels(labels);
  const findFirst = async () => (id === undefined ? undefined : await findSame(store, id, given));
  const first = await findFirst();
  if (first !== undefined) return first;
  requireInput(pipeline, input);
  requireReady();
  const beside = {
    pipelines,
    build: buildOf?.(buildTextOf(pipeline)),
    ...(kept && { labels: kept }),
    isDispatched,
  };
  const run = newRun({ ...given, ...beside }, id);
  for (let leftMs = LONGEST_WAIT_MS; ; leftMs -= PAUSE_MS) {
    const claim = isDispatched ? undefined : await store.claimRun(run.id);
    try {
      if (claim === undefined && !isDispatched) throw busyError(run.id);
      await store.createRun(run);
      return { id: run.id, isNew: true, claim };
    } catch (error) {
      await claim?.release();
      // Another start with the same id was faster; it may have claimed the run, and not kept it yet.
      const faster = await findFirst();
      if (faster !== undefined) return faster;
      if (claim !== undefined || isDispatched || leftMs <= 0 || toRuntimeError(error).code !== 'RUN_BUSY')
        throw error;
      await sleep(PAUSE_MS);
    }
  }
}

const LONGEST_WAIT_MS = 10_000;
const PAUSE_MS = 20;

/** The text that tells the build of a run: of the pipeline, and of those that it runs. */
export function buildTextOf({ source, pipelines = {} }: Pick<NewRun, 'source' | 'pipelines'>): string {
  const texts = Object.values(pipelines);
  return texts.length === 0 ? source : JSON.stringify([source, ...texts.toSorted()]);
}

/** RUN_BUSY: somebody else executes the run. */
export function busyError(id: string): RuntimeError {
  return new RuntimeError('RUN_BUSY', `run ${id} is being executed by another process`);
}

/** The record of a new run; its id is a new one unless it is given. */
export function newRun(run: Omit<NewRun, 'id' | 'createdAt'>, id = newRunId()): NewRun {
  return { ...run, id, createdAt: Date.now() };
}

function newRunId(): string {
  return `run_${randomBytes(8).toString('hex')}`;
}

async function findSame(
  store: Store,
  id: string,
  given: Pick<NewRun, 'name' | 'file' | 'source' | 'input'>,
): Promise<KeptRun | undefined> {
  // A caller without types may hand in anything, which is refused when the run is made.
  const run = typeof id === 'string' ? await store.findRun(id) : undefined;
  if (run === undefined) return undefined;
  const other = whatDiffers(run, given);
  if (other === undefined) return { id, isNew: false };
  throw new RuntimeError('RUN_ID_TAKEN', `run ${id} was started with ${other}`, { details: { run_id: id } });
}

function whatDiffers(
  run: RunRecord,
  { name, file, source, input }: Pick<NewRun, 'name' | 'file' | 'source' | 'input'>,
): string | undefined {
  // A file that was edited, or is elsewhere on another machine, holds the same pipeline still.
  const isSamePipeline = run.kind === 'pipeline' && run.name === name;
  if (!isSamePipeline || (run.file !== file && run.source !== source))
    return `another pipeline: "${run.name}"${run.file === null ? '' : ` of ${run.file}`}`;
  return isSameJson(run.input, input) ? undefined : 'another input';
}

/** Labels that a run may have, with their values checked; none where nothing was given. Throws USAGE. */
export function readLabels(given: unknown): RunLabels | undefined {
  if (given === undefined) return undefined;
  if (!isObject(given)) throw unusable('labels are an object: values by their names');
  const labels = Object.entries(given).map(([key, value]) => [requireKey(key), requireValue(key, value)]);
  if (labels.length > MOST_LABELS) throw unusable(`a run has at most ${MOST_LABELS} labels`);
  return labels.length === 0 ? undefined : Object.fromEntries(labels);
}

function requireKey(key: string): string {
  if (/^[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$/.test(key)) return key;
  throw unusable(`${JSON.stringify(key.slice(0, 70))} cannot be the name of a label`);
}

function requireValue(key: string, value: unknown): string {
  if (typeof value !== 'string') throw unusable(`the value of label "${key}" is no text`);
  if (value.length > MOST_CHARACTERS)
    throw unusable(`the value of label "${key}" has more than ${MOST_CHARACTERS} characters`);
  if (/[\n\t]/.test(value) || escapeInvisible(value) !== value || !value.isWellFormed())
    throw unusable(
      `the value of label "${key}" has control characters, line breaks or marks that nobody can see`,
    );
  return value;
}

const MOST_LABELS = 16;
const MOST_CHARACTERS = 256;

function unusable(message: string): RuntimeError {
  return new RuntimeError('USAGE', message, {
    hint: 'A name has up to 63 letters, digits, points, dashes, underscores and slashes; a value is one line of up to 256 characters; a run has up to 16.',
  });
}

/** The input of a run as JSON text; nothing is an empty object. Throws INPUT_INVALID when it is not JSON. */
export function readInput(input: unknown): Json {
  if (input === undefined) return new Json('{}');
  try {
    // What is nested too deeply for a reader is found out now, not in the middle of the run.
    if (typeof input === 'string' ? isTextTooDeep(input) : isTooDeep(input)) {
      throw new Error(`it is nested in more than ${MAX_JSON_DEPTH} levels, or contains itself`);
    }
    const json = typeof input === 'string' ? new Json(input.trim()) : Json.from(input);
    void json.value;
    const duplicate = findDuplicateKey(json.text);
    if (duplicate !== undefined) throw new Error(`the key "${duplicate}" stands twice`);
    return json;
  } catch (error) {
    throw new RuntimeError('INPUT_INVALID', `the input cannot be used: ${toRuntimeError(error).message}`, {
      cause: error,
      hint: typeof input === 'string' ? inputHint(input) : undefined,
    });
  }
}

function inputHint(text: string): string | undefined {
  const isFile = /^[^\s{}[\]"]+\.\w+$/.test(text.trim());
  return isFile ? `To read the file, write --input @${text.trim()}.` : jsonHint(text);
}

/** Throws INPUT_INVALID with every violation of the pipeline's input schema. */
export function requireInput({ name, checkInput }: Pipeline, input: Json): void {
  const violations = checkInput(input);
  if (violations.length === 0) return;
  throw new RuntimeError(
    'INPUT_INVALID',
    `the input of pipeline "${name}" does not fit its schema: ${violations.join('; ')}`,
  );
}

/** A run that is no step of another. Throws USAGE for one that is, which goes on and ends with that one; RUN_UNKNOWN, STORE_FAILED. */
export async function requireOutermost(
  store: Store,
  id: string,
  what: 'resume' | 'retry' | 'cancel',
): Promise<RunRecord> {
  const run = await requireRun(store, id);
  const { parent } = run;
  if (parent === undefined) return run;
  const message = `run ${id} is the step "${parent.step}" of run ${parent.root}, and goes on and ends with it`;
  throw new RuntimeError('USAGE', message, { hint: `Run \`signalbox runs ${what} ${parent.root}\`.` });
}

/** Throws RUN_UNKNOWN, STORE_FAILED. */
export async function requireRun(store: Store, id: string): Promise<RunRecord> {
  // A caller without types may hand in anything.
  const run = typeof id === 'string' ? await store.findRun(id) : undefined;
  if (run !== undefined) return run;
  throw new RuntimeError('RUN_UNKNOWN', `there is no run "${id}" in ${store.location}`);
}
