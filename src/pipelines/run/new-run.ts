import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import type { Json } from '../../base/json/json.ts';
import { isSameJson } from '../../calls/tool-call/hook-approval.ts';
import type { RunLabels } from '../../contract/run.ts';
import type { Claim, NewRun, RunRecord, Store } from '../../store/store.ts';
import type { Pipeline } from '../file/pipeline.ts';
import { readLabels } from './labels.ts';
import { requireInput } from './run-input.ts';

/** What the caller of a new run says of it. */
export interface StartOptions {
  /** The run's id, of up to 128 letters, digits, points, dashes and underscores. Of several starts with one id the first makes the run. */
  readonly id?: string | undefined;
  /** By which it is found again: up to 16, of up to 63 and 256 characters. */
  readonly labels?: RunLabels | undefined;
}

export interface RunToKeep extends StartOptions {
  readonly input: Json;
  readonly isDispatched?: true | undefined;
}

/** The run of a start: kept with it, or by an earlier start with the same id. */
export interface KeptRun {
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
