import { existsSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { requireLoaded } from '../../base/yaml/problem.ts';
import type { ExecConfig, RuntimeConfig } from '../../config/config.ts';
import { requireConfig } from '../../config/load.ts';
import { requirePipeline } from '../../pipelines/file/load.ts';
import type { CassetteOptions } from '../../process/cassette/cassette.ts';
import { hostEnv } from '../../process/env.ts';
import { findFiles } from '../../suites/dataset/files.ts';
import { isRemote } from '../../suites/dataset/remote/address.ts';
import { type Suite, subjectsOf, withDataset } from '../../suites/file/model.ts';
import { loadSuite, requireSuite } from '../../suites/load.ts';
import { type PlanOptions, planSuite as plan, type SuitePlan } from '../../suites/plan.ts';
import type { InputFile } from '../../suites/report/file-sink.ts';
import { resolveCommand } from '../binding/resolve.ts';
import { documentsIn, isFolder, saysOf } from './walk.ts';

/**
 * The RuntimeConfig that a suite names, or else `fallback`; `dataset` overrides the suite's own. Throws CONFIG_INVALID,
 * and FILE_UNREADABLE for the suite or a file that it names.
 */
export function runtimeOfSuite(file: string, fallback: string, dataset?: string): string {
  const { suite, problems } = loadSuite(file, undefined);
  const { runtime = fallback } = requireLoaded(file, suite, problems);
  const missing = problems.find(
    ({ about, message }) => about === 'file' && (dataset === undefined || message.startsWith('runtime')),
  );
  if (missing === undefined) return runtime;
  const { line, column, message, hint } = missing;
  throw new RuntimeError('FILE_UNREADABLE', `${file}:${line}:${column} ${message}`, { hint });
}

/** The RuntimeConfig that a pipeline names, or else `fallback`. Throws CONFIG_INVALID, FILE_UNREADABLE. */
export function runtimeOfPipeline(file: string, fallback: string): string {
  return requirePipeline(file, undefined).runtime ?? fallback;
}

export interface FoundSuite {
  readonly file: string;
  readonly suite: string;
  readonly runtime?: string | undefined;
  readonly error?: RuntimeError | undefined;
}

export function areSeveral(given: readonly string[]): boolean {
  const [first = ''] = given;
  return given.length > 1 || isFolder(first);
}

/**
 * Finds the suites in files and folders, in the given order. Suites of a folder are recognized by `kind` and sorted by
 * path. A repeated file counts once. Throws FILE_UNREADABLE for a folder without suites, USAGE for two suites with one
 * name.
 */
export function findSuites(given: readonly string[]): readonly FoundSuite[] {
  const files = given.flatMap((path) => (isFolder(path) ? suitesIn(path) : [path]));
  const byIdentity = new Map(files.toReversed().map((file) => [identityOf(file), file]));
  const once = files.filter((file) => byIdentity.get(identityOf(file)) === file);
  const found = [...new Set(once)].map(readSuite);
  refuseSameNames(found.filter(({ error }) => error === undefined));
  const names = new Set(found.flatMap(({ suite, error }) => (error === undefined ? [suite] : [])));
  return found.map((each) =>
    each.error === undefined ? each : { ...each, suite: names.has(each.suite) ? each.file : each.suite },
  );
}

function identityOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? file : `${found.dev}:${found.ino}`;
}

function suitesIn(folder: string): readonly string[] {
  const files = documentsIn(folder).filter((file) => saysSuite(file));
  if (files.length > 0) return files;
  throw new RuntimeError('FILE_UNREADABLE', `the folder ${folder} has no suite`, {
    hint: 'A suite is a YAML or JSON file with `kind: EvalSuite`, in the folder or below it.',
  });
}

/** Reads only the text, so that a suite with a YAML error counts as one. */
function saysSuite(file: string): boolean {
  return /\.suite\.(ya?ml|json)$/i.test(file) || saysOf(file, 'kind') === 'EvalSuite';
}

function readSuite(file: string): FoundSuite {
  try {
    const { name, runtime } = requireSuite(file, undefined);
    return { file, suite: name, runtime };
  } catch (thrown) {
    const error = toRuntimeError(thrown);
    return { file, suite: basename(file).replace(/(\.suite)?\.(ya?ml|json)$/i, ''), error };
  }
}

function refuseSameNames(found: readonly FoundSuite[]): void {
  const groups = [...Map.groupBy(found, ({ suite }) => suite).entries()];
  const twice = groups.find(([, group]) => group.length > 1);
  if (twice === undefined) return;
  const [name, group] = twice;
  const files = group.map(({ file }) => file).join(' and ');
  throw new RuntimeError('USAGE', `several suites are named "${name}": ${files}`, {
    hint: 'A report tells suites apart by name: give each its own metadata.name.',
  });
}

export interface SuiteInputOptions {
  readonly config: string;
  readonly overlays?: readonly string[] | undefined;
  readonly dataset?: string | undefined;
  readonly cassette?: CassetteOptions | undefined;
}

/** The files that a suite run reads; no report may overwrite them. Throws CONFIG_INVALID, FILE_UNREADABLE. */
export async function findSuiteInputs(
  file: string,
  { config: configFile, overlays = [], dataset, cassette }: SuiteInputOptions,
): Promise<readonly InputFile[]> {
  const config = requireConfig(configFile, hostEnv()['PATH'] ?? '', { env: hostEnv(), overlays });
  const suite = requireSuite(file, config);
  const { dataset: read } = withDataset(suite, dataset);
  return [
    { file, what: 'the suite' },
    { file: configFile, what: 'its config' },
    ...overlays.flatMap((each) => named(each, 'an overlay of its config')),
    ...named(config.environment?.file, 'the variables of its config'),
    ...pipelinesOf(suite),
    ...(read.kind === 'file' && !isRemote(read.path) ? await findFiles(read.path) : []).map((each) => ({
      file: each === '-' ? '/dev/stdin' : each,
      what: 'its dataset',
    })),
    ...[cassette?.record, cassette?.replay].flatMap((each) => named(each, 'the cassette')),
    ...execsOf(config).flatMap(([name, exec]) => programsOf(exec, config, name)),
  ];
}

function named(file: string | undefined, what: string): readonly InputFile[] {
  return file === undefined ? [] : [{ file, what }];
}

function pipelinesOf(suite: Suite): readonly InputFile[] {
  return subjectsOf(suite).flatMap((subject) =>
    subject.kind === 'pipeline' ? [{ file: subject.file, what: 'the pipeline of its subject' }] : [],
  );
}

function execsOf({ tools, evals, hooks }: RuntimeConfig): [name: string, exec: ExecConfig][] {
  return [...tools, ...evals, ...hooks].flatMap(({ name, exec }) =>
    exec === undefined ? [] : [[name, exec]],
  );
}

function programsOf(
  { command, args, cwd = '' }: ExecConfig,
  { folder }: RuntimeConfig,
  name: string,
): readonly InputFile[] {
  const commands = command.includes('/') ? [resolveCommand(command, folder)] : [];
  const words = args.filter((word) => word !== '').map((word) => resolve(folder, cwd, word));
  const files = [...commands, ...words.filter((word) => existsSync(word))];
  return files.map((file) => ({ file, what: `a program of "${name}"` }));
}

export type { PlannedRow, SuitePlan } from '../../suites/plan.ts';

export interface SuitePlanOptions extends PlanOptions {
  readonly config?: string | undefined;
  readonly overlays?: readonly string[] | undefined;
  readonly dataset?: string | undefined;
}

/**
 * Checks a suite together with its RuntimeConfig, and lists its cases; starts nothing. Throws CONFIG_INVALID,
 * FILE_UNREADABLE, USAGE, DATASET_INVALID.
 */
export async function planSuite(
  file: string,
  options: SuitePlanOptions,
): Promise<SuitePlan & { readonly config: string }> {
  const { config = runtimeOfSuite(file, 'runtime.yaml'), overlays = [], dataset } = options;
  const suite = requireSuite(
    file,
    requireConfig(config, hostEnv()['PATH'] ?? '', { env: hostEnv(), overlays }),
  );
  return { ...(await plan(withDataset(suite, dataset), options)), config };
}
