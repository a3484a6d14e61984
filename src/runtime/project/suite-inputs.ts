import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ExecConfig, RuntimeConfig } from '../../config/config.ts';
import { requireConfig } from '../../config/load.ts';
import type { CassetteOptions } from '../../process/cassette/cassette.ts';
import { hostEnv } from '../../process/env.ts';
import { findFiles } from '../../suites/dataset/files.ts';
import { isRemote } from '../../suites/dataset/remote/address.ts';
import { type Suite, subjectsOf, withDataset } from '../../suites/file/model.ts';
import { requireSuite } from '../../suites/load.ts';
import type { InputFile } from '../../suites/report/file-sink.ts';
import { resolveCommand } from '../binding/resolve.ts';

/** What a run of a suite is asked for, as far as it names files. */
export interface SuiteInputOptions {
  /** The RuntimeConfig that it runs on. */
  readonly config: string;
  readonly overlays?: readonly string[] | undefined;
  /** Read instead of the suite's own `dataset.path`. */
  readonly dataset?: string | undefined;
  readonly cassette?: CassetteOptions | undefined;
}

/** The files that a run of a suite needs, which no report of it may be written to. Throws CONFIG_INVALID, FILE_UNREADABLE. */
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
    ...overlays.flatMap((each) => named(each, 'a part of its config')),
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

/** The command, unless it is looked for in PATH, and the files among its arguments, such as the script of an interpreter. */
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
