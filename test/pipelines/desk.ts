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
  readonly events: readonly RuntimeEvent[];
  run(spec: string, input?: unknown, options?: RunOptions): Promise<RunDocument>;
  lines(name: string): string[];
  reopen(options?: RuntimeOptions): Promise<Desk>;
}

/** Opens a desk on that `spec`. `$bin` and `$folder` stand for the fixtures and the config's folder. */
export async function openDesk(spec: string, options: RuntimeOptions = {}): Promise<Desk> {
  return await openAt(write(spec), options);
}

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

export function writePipeline(folder: string, spec: string, name = 'desk'): string {
  const file = join(folder, `${name}.pipeline.yaml`);
  writeFileSync(file, pipeline(spec.replaceAll('$folder', folder), name));
  return file;
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
}

/** Runs a pipeline in a separate process. Returns its exit code or signal. */
export async function runElsewhere(config: string, pipeline: string): Promise<number | string> {
  const script = resolve(import.meta.dirname, 'runner.ts');
  return await new Promise((done) => {
    execFile(process.execPath, [script, config, pipeline], (error) => {
      if (error !== null && error.signal == null) process.stderr.write(error.message);
      done(error === null ? 0 : (error.signal ?? Number(error.code)));
    });
  });
}

/** One line per step: path, kind, status and error code. */
export function outline({ steps }: { readonly steps: readonly StepDocument[] }): string[] {
  return steps.map(({ step, kind, status, error }) =>
    [step, kind, status, ...(error === undefined ? [] : [error.code])].join(' '),
  );
}

export function pendingOf({ pending }: RunDocument): string {
  const [first, ...rest] = pending;
  if (first === undefined || rest.length > 0) throw new Error(`${pending.length} calls wait, not one`);
  return first.id;
}

/** The exec of a fixture that appends its input to `$folder/NAME`. */
export function recording(fixture: string, name: string, ...args: readonly string[]): string {
  const list = args.map((arg) => `'${arg.replaceAll("'", "''")}'`).join(', ');
  return `{command: $bin/${fixture}, args: [${list}], env: [RECORD_FILE=$folder/${name}]}`;
}

/** The same for a hook, which has no `exec` key. */
export function hookRecording(fixture: string, name: string, ...args: readonly string[]): string {
  return recording(fixture, name, ...args).slice(1, -1);
}

/** The most simultaneous calls of `overlap`, from `$folder/marks`. */
export function mostAtOnce({ folder }: Desk): number {
  let now = 0;
  const counts = [...readFileSync(join(folder, 'marks'), 'utf8')].map((mark) => {
    now += mark === '+' ? 1 : -1;
    return now;
  });
  return Math.max(...counts);
}
