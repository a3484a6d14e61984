import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RunDocument, StepDocument } from '../../src/contract/run.ts';
import { openRuntime, type Runtime, type RuntimeEvent, type RuntimeOptions } from '../../src/index.ts';
import type { RunOptions } from '../../src/runtime/runtime.ts';
import { write } from '../runtime/open.ts';
import { pipeline } from '../workspace.ts';

/** A runtime with a state store, and pipelines beside its config. */
export interface Desk {
  readonly runtime: Runtime;
  readonly folder: string;
  readonly config: string;
  /** Everything told so far. */
  readonly events: readonly RuntimeEvent[];
  /** Runs a pipeline of that `spec`, in YAML. */
  run(spec: string, input?: unknown, options?: RunOptions): Promise<RunDocument>;
  /** The lines of a file in the folder; none while it does not exist. */
  lines(name: string): string[];
  /** A fresh runtime on the same files; this one is closed first. */
  reopen(options?: RuntimeOptions): Promise<Desk>;
}

/** Opens a desk on that `spec`; `$bin` and `$folder` stand for the fixtures and the folder of the config. */
export async function openDesk(spec: string, options: RuntimeOptions = {}): Promise<Desk> {
  return await openAt(write(spec), options);
}

/** A second desk on the config of another, as another process would open it. */
export async function openAt(config: string, options: RuntimeOptions = {}): Promise<Desk> {
  const folder = join(config, '..');
  const events: RuntimeEvent[] = [];
  const onEvent = (event: RuntimeEvent) => {
    events.push(event);
  };
  const runtime = await openRuntime(config, { log: false, onEvent, ...options });
  onTestFinished(() => runtime.close());
  return {
    runtime,
    folder,
    config,
    events,
    run: async (pipeline, input, runOptions) =>
      await runtime.run(writePipeline(folder, pipeline), input, runOptions),
    lines: (name) => linesOf(join(folder, name)),
    reopen: async (others) => {
      await runtime.close();
      return await openAt(config, others ?? options);
    },
  };
}

/** A pipeline file of that `spec` in the folder. */
export function writePipeline(folder: string, spec: string, name = 'desk'): string {
  const file = join(folder, `${name}.pipeline.yaml`);
  writeFileSync(file, pipeline(spec.replaceAll('$folder', folder), name));
  return file;
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
}

/** Runs a pipeline in a process of its own; what ended that: an exit code, or a signal. */
export async function runElsewhere(config: string, pipeline: string): Promise<number | string> {
  const script = resolve(import.meta.dirname, 'runner.ts');
  return await new Promise((done) => {
    execFile(process.execPath, [script, config, pipeline], (error) => {
      if (error !== null && error.signal == null) process.stderr.write(error.message);
      done(error === null ? 0 : (error.signal ?? Number(error.code)));
    });
  });
}

/** The steps of a run, each in one line: path, kind, status, and the code of its error. */
export function outline({ steps }: { readonly steps: readonly StepDocument[] }): string[] {
  return steps.map(({ step, kind, status, error }) =>
    [step, kind, status, ...(error === undefined ? [] : [error.code])].join(' '),
  );
}

/** The id of the one call that waits. */
export function pendingOf({ pending }: RunDocument): string {
  const [first, ...rest] = pending;
  if (first === undefined || rest.length > 0) throw new Error(`${pending.length} calls wait, not one`);
  return first.id;
}

/** The exec of a fixture that notes what it reads in `$folder/NAME`. */
export function recording(fixture: string, name: string, ...args: readonly string[]): string {
  const list = args.map((arg) => `'${arg.replaceAll("'", "''")}'`).join(', ');
  return `{command: $bin/${fixture}, args: [${list}], env: [RECORD_FILE=$folder/${name}]}`;
}

/** The members of an exec for a hook, which has no `exec` of its own. */
export function hookRecording(fixture: string, name: string, ...args: readonly string[]): string {
  return recording(fixture, name, ...args).slice(1, -1);
}

/** The most calls of `overlap` that ran at once, by what they wrote to `$folder/marks`. */
export function mostAtOnce({ folder }: Desk): number {
  let now = 0;
  const counts = [...readFileSync(join(folder, 'marks'), 'utf8')].map((mark) => {
    now += mark === '+' ? 1 : -1;
    return now;
  });
  return Math.max(...counts);
}
