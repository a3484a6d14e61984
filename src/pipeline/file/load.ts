import { locateViolation } from '../../yaml/check.ts';
import { parseDocument, readDocument, type YamlDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import { requireLoaded, sortProblems } from '../../yaml/problem.ts';
import { readText } from '../../yaml/text-file.ts';
import { findViolations } from '../../yaml/violation.ts';
import type { Pipeline } from './pipeline.ts';
import { readPipeline } from './read-pipeline.ts';
import { pipelineSchema } from './schema.ts';
import { validatePipeline } from './validate.ts';
import type { PipelineRuntime } from './validate-names.ts';
import { isCoveredByOther, wordViolation } from './violation-wording.ts';

/** A pipeline, unless one of its problems is an error. */
export interface LoadedPipeline {
  readonly pipeline: Pipeline | undefined;
  /** In the order of the file. */
  readonly problems: readonly Problem[];
}

/**
 * Reads and checks a Pipeline. `runtime` is what its RuntimeConfig declares; undefined leaves the names of
 * tools, evals and providers unchecked. Throws FILE_UNREADABLE.
 */
export function loadPipeline(file: string, runtime: PipelineRuntime | undefined): LoadedPipeline {
  const text = readText(file);
  // A file that is not UTF-8 is a problem of the document.
  return typeof text === 'string'
    ? load(parseDocument(file, text), text, runtime)
    : load(readDocument(file), '', runtime);
}

/** The pipeline that the file holds. Throws CONFIG_INVALID with `details.problems`, and FILE_UNREADABLE. */
export function requirePipeline(file: string, runtime: PipelineRuntime | undefined): Pipeline {
  const { pipeline, problems } = loadPipeline(file, runtime);
  return requireLoaded(file, pipeline, problems);
}

/** A pipeline from a text that stood in `file` once. Throws CONFIG_INVALID with `details.problems`. */
export function requirePipelineText(
  { file, text }: { readonly file: string; readonly text: string },
  runtime: PipelineRuntime | undefined,
): Pipeline {
  const { pipeline, problems } = load(parseDocument(file, text), text, runtime);
  return requireLoaded(file, pipeline, problems);
}

function load(document: YamlDocument, source: string, runtime: PipelineRuntime | undefined): LoadedPipeline {
  const isReadable = document.value !== undefined;
  const problems = sortProblems([
    ...document.problems,
    ...(isReadable ? checkShape(document) : []),
    ...(isReadable ? validatePipeline(document, runtime) : []),
  ]);
  const broken = problems.some(({ severity }) => severity === 'error');
  return { pipeline: broken ? undefined : readPipeline(document, source), problems };
}

function checkShape(document: YamlDocument): readonly Problem[] {
  const violations = findViolations(document.value, pipelineSchema);
  return violations
    .filter((violation) => !isCoveredByOther(violation, violations))
    .map((violation) => locateViolation(document, wordViolation(violation), pipelineSchema));
}
