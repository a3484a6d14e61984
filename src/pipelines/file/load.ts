import { resolve } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { locateViolation } from '../../base/yaml/check.ts';
import { parseDocument, readDocument, type YamlDocument } from '../../base/yaml/document.ts';
import type { Problem } from '../../base/yaml/problem.ts';
import { requireLoaded, sortProblems } from '../../base/yaml/problem.ts';
import { readText } from '../../base/yaml/text-file.ts';
import { findViolations } from '../../base/yaml/violation.ts';
import { type Chain, loadBelow } from './below/load-below.ts';
import type { Pipeline } from './pipeline.ts';
import { readPipeline } from './read-pipeline.ts';
import { pipelineSchema } from './schema.ts';
import { validatePipeline } from './validate.ts';
import type { PipelineRuntime } from './validate-names.ts';
import { listSteps } from './validate-tree.ts';
import { isCoveredByOther, wordViolation } from './violation-wording.ts';

/** A pipeline, unless one of its problems is an error. */
export interface LoadedPipeline {
  readonly pipeline: Pipeline | undefined;
  /** In the order of the file, and those of the pipelines that it runs, each once. */
  readonly problems: readonly Problem[];
  /** The documents of these, each once. */
  readonly below: readonly YamlDocument[];
}

/**
 * Reads and checks a Pipeline. `runtime` is what its RuntimeConfig declares; undefined leaves the names of
 * tools, evals and providers unchecked. Throws FILE_UNREADABLE.
 */
export function loadPipeline(file: string, runtime: PipelineRuntime | undefined): LoadedPipeline {
  const text = readText(file);
  const options = { runtime, chain: chainFrom(file, readText) };
  // A file that is not UTF-8 is a problem of the document.
  return typeof text === 'string'
    ? load(parseDocument(file, text), text, options)
    : load(readDocument(file), '', options);
}

/** The pipeline that the file holds. Throws CONFIG_INVALID with `details.problems`, and FILE_UNREADABLE. */
export function requirePipeline(file: string, runtime: PipelineRuntime | undefined): Pipeline {
  const { pipeline, problems } = loadPipeline(file, runtime);
  return requireLoaded(file, pipeline, problems);
}

/** A pipeline from a text that stood in `file` once, with those that it runs. Throws CONFIG_INVALID with `details.problems`. */
export function requirePipelineText(
  { file, text, pipelines = {} }: KeptPipeline,
  runtime: PipelineRuntime | undefined,
): Pipeline {
  const readKept = (each: string): string => {
    const kept = Object.hasOwn(pipelines, each) ? pipelines[each] : undefined;
    if (kept !== undefined) return kept;
    throw new RuntimeError('FILE_UNREADABLE', `${each} was not kept with the run`);
  };
  const { pipeline, problems } = load(parseDocument(file, text), text, {
    runtime,
    chain: chainFrom(file, readKept),
  });
  return requireLoaded(file, pipeline, problems);
}

interface KeptPipeline {
  readonly file: string;
  readonly text: string;
  /** The texts of those that it runs, by their absolute files. */
  readonly pipelines?: Readonly<Record<string, string>> | undefined;
}

function chainFrom(file: string, read: Chain['readText']): Chain {
  return { files: [resolve(file)], loaded: new Map(), readText: read };
}

interface LoadOptions {
  readonly runtime: PipelineRuntime | undefined;
  readonly chain: Chain;
}

function load(document: YamlDocument, source: string, { runtime, chain }: LoadOptions): LoadedPipeline {
  const isReadable = document.value !== undefined;
  const steps = listSteps(document);
  const below = loadBelow(document, steps, chain, (each, text, inner) => ({
    document: each,
    ...load(each, text, { runtime, chain: inner }),
  }));
  const own = [
    ...document.problems,
    ...(isReadable ? checkShape(document) : []),
    ...(isReadable ? validatePipeline(document, { steps, below, runtime }) : []),
  ];
  const problems = sortProblems([...own, ...below.fresh.flatMap((each) => each.problems)]);
  const found = [...below.pipelines].flatMap(([file, { pipeline }]) =>
    pipeline === undefined ? [] : [[file, pipeline] as const],
  );
  const broken = own.some(({ severity }) => severity === 'error') || found.length < below.pipelines.size;
  return {
    pipeline: broken ? undefined : readPipeline(document, source, new Map(found)),
    problems,
    below: below.fresh.flatMap((each) => [each.document, ...each.below]),
  };
}

function checkShape(document: YamlDocument): readonly Problem[] {
  const violations = findViolations(document.value, pipelineSchema);
  return violations
    .filter((violation) => !isCoveredByOther(violation))
    .map((violation) => locateViolation(document, wordViolation(violation), pipelineSchema));
}
