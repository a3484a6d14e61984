import { basename, dirname, resolve } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { compileExpressions } from '../../base/expression/expression.ts';
import { locateViolation } from '../../base/yaml/check.ts';
import { parseDocument, readDocument, readText, type YamlDocument } from '../../base/yaml/document.ts';
import { expressionAt } from '../../base/yaml/expressions.ts';
import { type Problem, requireLoaded, sortProblems } from '../../base/yaml/problem.ts';
import { choiceAt, entriesAt, itemsAt, nonEmptyTextAt, schemaAt, textAt } from '../../base/yaml/read.ts';
import { compileSchema } from '../../base/yaml/schema-check.ts';
import { findViolations, type Violation } from '../../base/yaml/violation.ts';
import { omitUndefined } from '../../base/yaml/wording.ts';
import { type Chain, loadBelow } from './below.ts';
import { everyVariable, type Pipeline, type PipelineOf, readSteps } from './pipeline.ts';
import { pipelineSchema } from './schema.ts';
import { validatePipeline } from './validate.ts';
import type { PipelineRuntime } from './validate-names.ts';
import { listSteps } from './validate-scope.ts';

interface LoadedPipeline {
  readonly pipeline: Pipeline | undefined;
  /** In file order, followed by those of nested pipelines, each once. */
  readonly problems: readonly Problem[];
  readonly below: readonly YamlDocument[];
}

/** An undefined `runtime` leaves the names of tools, evals and providers unchecked. Throws FILE_UNREADABLE. */
export function loadPipeline(file: string, runtime: PipelineRuntime | undefined): LoadedPipeline {
  const text = readText(file);
  const options = { runtime, chain: chainFrom(file, readText) };
  return typeof text === 'string'
    ? load(parseDocument(file, text), text, options)
    : load(readDocument(file), '', options);
}

/** Throws CONFIG_INVALID with `details.problems`, and FILE_UNREADABLE. */
export function requirePipeline(file: string, runtime: PipelineRuntime | undefined): Pipeline {
  const { pipeline, problems } = loadPipeline(file, runtime);
  return requireLoaded(file, pipeline, problems);
}

/** A `requirePipeline` that reads the files on each call, and parses them again only if a text has changed. */
export function createPipelineLoader(runtime: PipelineRuntime): (file: string) => Pipeline {
  const loaded = new Map<string, Pipeline>();
  return (file) => {
    const known = loaded.get(file);
    if (known !== undefined && isUnchanged(known)) return known;
    const pipeline = requirePipeline(file, runtime);
    if (loaded.size >= MAX_LOADED) loaded.clear();
    loaded.set(file, pipeline);
    return pipeline;
  };
}

const MAX_LOADED = 100;

function isUnchanged({ file, source, pipelines }: Pipeline): boolean {
  try {
    return Object.entries({ ...pipelines, [file]: source }).every(([each, text]) => readText(each) === text);
  } catch {
    return false;
  }
}

/** Parses a stored text that came from `file`. Throws CONFIG_INVALID with `details.problems`. */
export function requirePipelineText(
  { file, text, pipelines = {} }: KeptPipeline,
  runtime: PipelineRuntime | undefined,
): Pipeline {
  const readKept = (each: string): string => {
    const kept = Object.hasOwn(pipelines, each) ? pipelines[each] : undefined;
    if (kept !== undefined) return kept;
    throw new RuntimeError('FILE_UNREADABLE', `${each} was not stored with the run`);
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
  /** The texts of nested pipelines, by absolute path. */
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

function isCoveredByOther({ keyword, path }: Violation): boolean {
  return keyword === 'pattern' && ['args', 'params', 'context'].includes(String(path.at(-1)));
}

function wordViolation(violation: Violation): Violation {
  if (violation.keyword !== 'pattern') return violation;
  const [section, place] = violation.path;
  const isName = section === 'spec' && (place === 'env' || place === 'vars');
  const worded = isName ? nameWords[place] : (words[String(violation.path.at(-1))] ?? expressionWords);
  return { ...violation, ...worded };
}

const expressionWords = { message: 'must be a single `${…}` if it is text' };

const nameWords = {
  env: {
    message: 'must be the name of an environment variable: letters, digits and `_`, no digit first',
    hint: 'Write names only; `vars` is for values.',
  },
  vars: {
    message: 'the name must be letters, digits and `_`, no digit first',
    hint: 'Expressions name the value as `vars.NAME`.',
  },
};

const words: Readonly<Record<string, { readonly message: string; readonly hint?: string }>> = {
  id: {
    message: 'must be letters, digits and `_`, no digit first',
    hint: 'Expressions name the step as `steps.ID`.',
  },
  tool_choice: { message: 'must be auto, none, required, or a mapping with `tool`' },
  backoff: {
    message: 'must be a duration such as 500ms, 2s or 1m, or a mapping of initial_ms, factor and max_ms',
  },
  expires: { message: 'must be a duration such as 30m, 24h or 7d' },
  wait: {
    message: 'must be a duration such as 30s, 10m or 36h, a `${…}` that gives one, or a mapping with `until`',
  },
  on_error: { message: 'must be stop, continue, or a mapping of steps and then' },
};

/** Call it only for a document without errors. */
function readPipeline(
  document: YamlDocument,
  source: string,
  below: ReadonlyMap<string, Pipeline>,
): Pipeline {
  const file = resolve(document.file);
  const pipelineOf: PipelineOf = (named) => {
    const found = below.get(named);
    if (found === undefined) throw new RuntimeError('INTERNAL', `the pipeline ${named} was not loaded`);
    return found;
  };
  const runtime = nonEmptyTextAt(document, ['spec', 'runtime']);
  return {
    file,
    name: nonEmptyTextAt(document, ['metadata', 'name']) ?? nameOf(file),
    source,
    pipelines: Object.fromEntries(
      [...below].flatMap(([each, { source: text, pipelines }]) => [
        [each, text],
        ...Object.entries(pipelines),
      ]),
    ),
    ...omitUndefined({ runtime: runtime === undefined ? undefined : resolve(dirname(file), runtime) }),
    checkInput: compileSchema(schemaAt(document, ['spec', 'input'])),
    env: itemsAt(document, ['spec', 'env']).map((item) => textAt(document, item) ?? ''),
    vars: entriesAt(document, ['spec', 'vars']).map(({ name, path }) => ({
      name,
      value: expressionAt(document, path, everyVariable) ?? compileExpressions(null, []),
    })),
    steps: readSteps(document, ['spec', 'steps'], pipelineOf),
    finally: readSteps(document, ['spec', 'finally'], pipelineOf),
    ...omitUndefined({
      output: expressionAt(document, ['spec', 'output'], everyVariable),
      onFault: choiceAt(document, ['spec', 'on_fault'], ['suspend', 'fail']),
    }),
  };
}

function nameOf(file: string): string {
  return basename(file).replace(/(\.pipeline)?\.(ya?ml|json)$/, '');
}
