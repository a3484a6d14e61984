import type { LoadedConfig } from '../config/load.ts';
import { toRuntimeError } from '../errors.ts';
import { isObject } from '../json/json.ts';
import { readDocument, type YamlDocument } from '../yaml/document.ts';
import { type Problem, sortProblems } from '../yaml/problem.ts';
import { textAt } from '../yaml/read.ts';
import { findNearest } from '../yaml/suggest.ts';
import { type ReadOptions, readConfig } from './read-config.ts';

/**
 * Every problem of a RuntimeConfig, EvalSuite or Pipeline file, as its `kind` says; that it cannot be read is
 * one. `fallback` is the RuntimeConfig of a suite or pipeline that names none;
 * overlays are laid over a RuntimeConfig, and over that fallback.
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
        return await withBackends(readConfig(file, read));
      case undefined:
        return refuseKind(document);
    }
  } catch (error) {
    const { code, message, hint } = toRuntimeError(error);
    if (code !== 'FILE_UNREADABLE') throw error;
    return [{ file, line: 1, column: 1, severity: 'error', message, hint }];
  }
}

/** The problems of a RuntimeConfig, and of the sandboxes that this machine cannot make. */
async function withBackends({ config, problems }: LoadedConfig): Promise<readonly Problem[]> {
  if (config?.sandboxes.every(({ mode }) => mode === 'direct') !== false) return problems;
  const { findBackendProblems } = await import('./backends.ts');
  return sortProblems([...problems, ...(await findBackendProblems(config))]);
}

/** What suites and pipelines need is several times what a RuntimeConfig does. */
const loadOthers = async () => await import('./validate-with-runtime.ts');

const kinds = ['RuntimeConfig', 'EvalSuite', 'Pipeline'] as const;
type Kind = (typeof kinds)[number];

/**
 * The kind nearest to the `kind` of the file; RuntimeConfig for a file that is no mapping, undefined for
 * none.
 */
function kindOf(document: YamlDocument): Kind | undefined {
  if (!isObject(document.value)) return 'RuntimeConfig';
  const nearest = findNearest(textAt(document, ['kind']) ?? '', kinds);
  return kinds.find((kind) => kind === nearest);
}

/** The problems of a file of unknown kind: those of its YAML, and the kind. */
function refuseKind(document: YamlDocument): readonly Problem[] {
  const kind = textAt(document, ['kind']);
  const got = kind === undefined ? '' : ` (got: ${kind})`;
  const message = `kind: must be one of: ${kinds.join(', ')}${got}`;
  return sortProblems([
    ...document.problems,
    { ...document.positionOf(['kind']), severity: 'error', message },
  ]);
}
