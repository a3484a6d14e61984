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

export interface StartOptions {
  /** Up to 128 letters, digits, points, dashes and underscores. The first start with an id creates the run. */
  readonly id?: string | undefined;
  /** Up to 16 labels with keys of up to 63 and values of up to 256 characters. */
  readonly labels?: RunLabels | undefined;
}

interface RunToKeep extends StartOptions {
  readonly input: Json;
  readonly isDispatched?: true | undefined;
}

interface KeptRun {
  readonly id: string;
  /** The run as it was just created; absent for an existing run. */
  readonly made?: RunRecord;
  readonly claim?: Claim | undefined;
}

interface KeepContext {
  readonly store: Store;
  readonly config: string;
  readonly buildOf?: ((source: string) => string) | undefined;
}

/**
 * Returns an existing run of the same id. Throws USAGE, INPUT_INVALID, STORE_FAILED, the errors of `requireReady`, and
 * RUN_ID_TAKEN if its pipeline or input differs.
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
      return { id: run.id, made: toRecord(run), claim };
    } catch (error) {
      await claim?.release();
      // A concurrent start with the same id may have claimed the run but not stored it yet.
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

export function buildTextOf({ source, pipelines = {} }: Pick<NewRun, 'source' | 'pipelines'>): string {
  const texts = Object.values(pipelines);
  return texts.length === 0 ? source : JSON.stringify([source, ...texts.toSorted()]);
}

export function busyError(id: string): RuntimeError {
  return new RuntimeError('RUN_BUSY', `another process is executing run ${id}`);
}

export function newRun(run: Omit<NewRun, 'id' | 'createdAt'>, id = newRunId()): NewRun {
  return { ...run, id, createdAt: Date.now() };
}

/** The record of a run that was just created, without reading it. */
export function toRecord(run: NewRun): RunRecord {
  return { ...run, status: 'running', output: null, error: null, updatedAt: run.createdAt };
}

export function newRunId(bytes = 8): string {
  return `run_${randomBytes(bytes).toString('hex')}`;
}

async function findSame(
  store: Store,
  id: string,
  given: Pick<NewRun, 'name' | 'file' | 'source' | 'input'>,
): Promise<KeptRun | undefined> {
  // Callers without TypeScript may pass anything; creating the run rejects it.
  const run = typeof id === 'string' ? await store.findRun(id) : undefined;
  if (run === undefined) return undefined;
  const other = whatDiffers(run, given);
  if (other === undefined) return { id };
  throw new RuntimeError('RUN_ID_TAKEN', `run ${id} was started with ${other}`, { details: { run_id: id } });
}

function whatDiffers(
  run: RunRecord,
  { name, file, source, input }: Pick<NewRun, 'name' | 'file' | 'source' | 'input'>,
): string | undefined {
  // Compared by name, since the file may have been edited or moved.
  const isSamePipeline = run.kind === 'pipeline' && run.name === name;
  if (!isSamePipeline || (run.file !== file && run.source !== source))
    return `another pipeline: "${run.name}"${run.file === null ? '' : ` of ${run.file}`}`;
  return isSameJson(run.input, input) ? undefined : 'another input';
}

/** Checks the labels. Returns undefined without any. Throws USAGE. */
export function readLabels(given: unknown): RunLabels | undefined {
  if (given === undefined) return undefined;
  if (!isObject(given)) throw unusable('labels must be an object of names and values');
  const labels = Object.entries(given).map(([key, value]) => [requireKey(key), requireValue(key, value)]);
  if (labels.length > MOST_LABELS) throw unusable(`a run can have at most ${MOST_LABELS} labels`);
  return labels.length === 0 ? undefined : Object.fromEntries(labels);
}

function requireKey(key: string): string {
  if (/^[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$/.test(key)) return key;
  throw unusable(`${JSON.stringify(key.slice(0, 70))} is not a valid name of a label`);
}

function requireValue(key: string, value: unknown): string {
  if (typeof value !== 'string') throw unusable(`the value of label "${key}" is not text`);
  if (value.length > MOST_CHARACTERS)
    throw unusable(`the value of label "${key}" has more than ${MOST_CHARACTERS} characters`);
  if (/[\n\t]/.test(value) || escapeInvisible(value) !== value || !value.isWellFormed())
    throw unusable(
      `the value of label "${key}" contains control characters, line breaks or invisible characters`,
    );
  return value;
}

const MOST_LABELS = 16;
const MOST_CHARACTERS = 256;

function unusable(message: string): RuntimeError {
  return new RuntimeError('USAGE', message, {
    hint: 'A name has up to 63 letters, digits, dots, dashes, underscores and slashes; a value is one line of up to 256 characters; a run has up to 16.',
  });
}

/** Returns the input as JSON text; undefined becomes an empty object. Throws INPUT_INVALID if it is not JSON. */
export function readInput(input: unknown): Json {
  if (input === undefined) return new Json('{}');
  try {
    // Too deep nesting is rejected now, not in the middle of the run.
    if (typeof input === 'string' ? isTextTooDeep(input) : isTooDeep(input)) {
      throw new Error(`it has more than ${MAX_JSON_DEPTH} nested levels, or contains itself`);
    }
    const json = typeof input === 'string' ? new Json(input.trim()) : Json.from(input);
    void json.value;
    const duplicate = findDuplicateKey(json.text);
    if (duplicate !== undefined) throw new Error(`duplicate key "${duplicate}"`);
    return json;
  } catch (error) {
    throw new RuntimeError('INPUT_INVALID', `the input is not valid: ${toRuntimeError(error).message}`, {
      cause: error,
      hint: typeof input === 'string' ? inputHint(input) : undefined,
    });
  }
}

function inputHint(text: string): string | undefined {
  const isFile = /^[^\s{}[\]"]+\.\w+$/.test(text.trim());
  return isFile ? `To read the file, write --input @${text.trim()}.` : jsonHint(text);
}

/** Throws INPUT_INVALID with every violation of the input schema. */
export function requireInput({ name, checkInput }: Pipeline, input: Json): void {
  const violations = checkInput(input);
  if (violations.length === 0) return;
  throw new RuntimeError(
    'INPUT_INVALID',
    `the input of pipeline "${name}" does not fit its schema: ${violations.join('; ')}`,
  );
}

/** Throws USAGE for a nested run, which its outermost run controls; RUN_UNKNOWN, STORE_FAILED. */
export async function requireOutermost(
  store: Store,
  id: string,
  what: 'resume' | 'retry' | 'cancel',
): Promise<RunRecord> {
  const run = await requireRun(store, id);
  const { parent } = run;
  if (parent === undefined) return run;
  const message = `run ${id} is the step "${parent.step}" of run ${parent.root}, and resumes and ends with it`;
  throw new RuntimeError('USAGE', message, { hint: `Run \`signalbox runs ${what} ${parent.root}\`.` });
}

/** Throws RUN_UNKNOWN, STORE_FAILED. */
export async function requireRun(store: Store, id: string): Promise<RunRecord> {
  const run = typeof id === 'string' ? await store.findRun(id) : undefined;
  if (run !== undefined) return run;
  throw new RuntimeError('RUN_UNKNOWN', `there is no run "${id}" in ${store.location}`);
}
