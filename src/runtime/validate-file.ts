import { existsSync } from 'node:fs';
import { RuntimeError, toRuntimeError } from '../base/errors.ts';
import { isObject } from '../base/json/json.ts';
import { findNearest } from '../base/text/suggest.ts';
import { readDocument, type YamlDocument } from '../base/yaml/document.ts';
import { type Problem, placeKey, problemsOf, sortProblems } from '../base/yaml/problem.ts';
import { textAt } from '../base/yaml/read.ts';
import { omitUndefined } from '../base/yaml/wording.ts';
import { type LoadedConfig, type ReadOptions, readConfig } from '../config/load.ts';
import { readConfigDocument } from '../config/overlay/read.ts';
import { emitNothing } from '../contract/event.ts';
import { readOpenable } from './stages/load.ts';

/**
 * All problems of a RuntimeConfig, EvalSuite or Pipeline file; an unreadable file is one. `fallback` is the
 * RuntimeConfig of a suite or pipeline that names none. Overlays apply to the RuntimeConfig or the fallback.
 */
export async function validateFile(
  file: string,
  fallback: string,
  read: ReadOptions = {},
): Promise<readonly Problem[]> {
  try {
    const document = readDocument(file);
    switch (kindOf(document)) {
      case 'EvalSuite':
        return (await loadOthers()).validateSuite(document, fallback, read);
      case 'Pipeline':
        return (await loadOthers()).validatePipeline(document, fallback, read);
      case 'RuntimeConfig':
        return await validateConfig(file, document, read);
      case undefined:
        return refuseKind(document);
    }
  } catch (error) {
    const { code, message, hint } = toRuntimeError(error);
    if (code !== 'FILE_UNREADABLE') throw error;
    return [{ file, line: 1, column: 1, severity: 'error', message, hint }];
  }
}

async function validateConfig(
  file: string,
  first: YamlDocument,
  options: ReadOptions,
): Promise<readonly Problem[]> {
  const read = { ...options, written: readConfigDocument(file, options.overlays ?? [], first) };
  const loaded = readConfig(file, read);
  const { findGuardProblems } = await import('./guard-problems.ts');
  const all = [...loaded.problems, ...(await findGuardProblems(loaded.document, file, read.env))];
  if (read.ignoresPrograms !== true) all.push(...(await findOpeningProblems(file, read, loaded)));
  const byPlace = new Map(all.toReversed().map((each) => [`${placeKey(each)} ${each.message}`, each]));
  return sortProblems(all.filter((each) => byPlace.get(`${placeKey(each)} ${each.message}`) === each));
}

async function findOpeningProblems(
  file: string,
  read: ReadOptions,
  strict: LoadedConfig,
): Promise<readonly Problem[]> {
  try {
    const loaded = strict.config ? strict : readConfig(file, { ...read, refusesUnusable: false });
    const { config, host, launch } = await readOpenable(file, omitUndefined({ env: read.env }), loaded);
    const { assumePlugins } = await import('./plugins.ts');
    await assumePlugins(config, host, { launch, emit: emitNothing });
    return [];
  } catch (thrown) {
    const error = toRuntimeError(thrown);
    if (error.code !== 'CONFIG_INVALID') throw error;
    return problemsOf(error).filter(({ severity }) => severity === 'error');
  }
}

/**
 * The files to validate: named files, and every config, suite and pipeline in named folders. Without names: `config`
 * and the files of the current folder. Throws FILE_UNREADABLE for a folder with nothing to check.
 */
export async function findCheckable(named: readonly string[], config: string): Promise<readonly string[]> {
  const { checkableIn, isFolder } = await import('./project/walk.ts');
  if (named.length === 0) {
    const found = await checkableIn('.');
    return existsSync(config) || found.length === 0 ? [...new Set([config, ...found])] : found;
  }
  const files: string[] = [];
  for (const path of named) {
    const found = isFolder(path) ? await checkableIn(path) : [path];
    if (found.length === 0)
      throw new RuntimeError('FILE_UNREADABLE', `the folder ${path} has no config, suite or pipeline`, {
        hint: 'Each of these files has `apiVersion: signalbox/v1` and its `kind`.',
      });
    files.push(...found);
  }
  return [...new Set(files)];
}

const loadOthers = async () => await import('../suites/validate/with-runtime.ts');

const kinds = ['RuntimeConfig', 'EvalSuite', 'Pipeline'] as const;
type Kind = (typeof kinds)[number];

/** RuntimeConfig for a file that is not a mapping, undefined for an unknown kind. */
function kindOf(document: YamlDocument): Kind | undefined {
  if (!isObject(document.value)) return 'RuntimeConfig';
  const nearest = findNearest(textAt(document, ['kind']) ?? '', kinds);
  return kinds.find((kind) => kind === nearest);
}

function refuseKind(document: YamlDocument): readonly Problem[] {
  const kind = textAt(document, ['kind']);
  const got = kind === undefined ? '' : ` (got: ${kind})`;
  const message = `kind: must be one of: ${kinds.join(', ')}${got}`;
  return sortProblems([
    ...document.problems,
    { ...document.positionOf(['kind']), severity: 'error', message },
  ]);
}
