import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { toRuntimeError } from '../../base/errors.ts';
import { suggest } from '../../base/text/suggest.ts';
import { parseDocument, type YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import type { Problem } from '../../base/yaml/problem.ts';
import { nonEmptyTextAt, textAt } from '../../base/yaml/read.ts';
import type { Pipeline, Step } from './pipeline.ts';
import { fileBelow } from './pipeline.ts';
import type { StepNode } from './validate-scope.ts';

export interface Chain {
  /** Absolute paths from the outermost pipeline to this one. */
  readonly files: readonly string[];
  /** Files loaded so far, so that each problem is reported once. */
  readonly loaded: Map<string, LoadedBelow>;
  /** Returns the text, or a problem if the file is not UTF-8. Throws FILE_UNREADABLE. */
  readonly readText: (file: string) => string | Problem;
}

export interface LoadedBelow {
  readonly document: YamlDocument;
  /** Undefined if one of its problems, or of a nested pipeline, is an error. */
  readonly pipeline: Pipeline | undefined;
  readonly problems: readonly Problem[];
  readonly below: readonly YamlDocument[];
}

export interface Below {
  readonly pipelines: ReadonlyMap<string, LoadedBelow>;
  readonly fresh: readonly LoadedBelow[];
  readonly findings: readonly Finding[];
}

export function loadBelow(
  document: YamlDocument,
  steps: readonly StepNode[],
  chain: Chain,
  load: (document: YamlDocument, source: string, chain: Chain) => LoadedBelow,
): Below {
  const pipelines = new Map<string, LoadedBelow>();
  const fresh: LoadedBelow[] = [];
  const findings: Finding[] = [];
  for (const { path: step } of steps) {
    const path = [...step, 'pipeline'];
    const named = nonEmptyTextAt(document, path);
    if (named === undefined) continue;
    const file = fileBelow(document, named);
    const fault = findFault(file, named, chain);
    if (fault !== undefined) {
      findings.push({ path, ...fault });
      continue;
    }
    const known = chain.loaded.get(file);
    const below = known ?? loadOne(file, chain, load);
    if ('message' in below) {
      findings.push({ path, ...below });
      continue;
    }
    if (known === undefined) fresh.push(below);
    chain.loaded.set(file, below);
    pipelines.set(file, below);
    findings.push(...findOther(document, path, below));
  }
  return { pipelines, fresh, findings };
}

type Fault = Pick<Finding, 'message' | 'hint'>;

function findFault(file: string, named: string, { files }: Chain): Fault | undefined {
  const from = files.indexOf(file);
  if (from !== -1) {
    const names = [...files.slice(from), file].map((each) => basename(each)).join(' → ');
    return { message: `${named} runs itself: ${names}`, hint: 'A pipeline that runs itself never ends.' };
  }
  if (files.length < MAX_DEPTH) return undefined;
  return {
    message: `${named} is nested ${MAX_DEPTH + 1} pipelines deep; the limit is ${MAX_DEPTH}`,
    hint: `The outermost is ${files[0]}.`,
  };
}

/** The maximum nesting depth, including the outermost pipeline. */
const MAX_DEPTH = 16;

function loadOne(
  file: string,
  chain: Chain,
  load: (document: YamlDocument, source: string, chain: Chain) => LoadedBelow,
): LoadedBelow | Fault {
  try {
    const text = chain.readText(file);
    if (typeof text !== 'string')
      return { message: `${text.file}:${text.line}:${text.column} ${text.message}` };
    const document = parseDocument(file, text);
    const kind = textAt(document, ['kind']);
    if (kind === 'EvalSuite' || kind === 'RuntimeConfig')
      return { message: `${file} has the kind ${kind}`, hint: 'Name a file with kind Pipeline.' };
    return load(document, text, { ...chain, files: [...chain.files, file] });
  } catch (thrown) {
    const { code, message } = toRuntimeError(thrown);
    if (code !== 'FILE_UNREADABLE') throw thrown;
    const { hint = 'The path is relative to the folder of this file.' } = suggest(
      basename(file),
      yamlFilesBeside(file),
    );
    return { message, hint };
  }
}

function yamlFilesBeside(file: string): string[] {
  try {
    return readdirSync(dirname(file)).filter((name) => /\.(?:ya?ml|json)$/.test(name));
  } catch {
    return [];
  }
}

function findOther(
  document: YamlDocument,
  path: Finding['path'],
  { document: below }: LoadedBelow,
): Finding[] {
  const [ours, theirs] = [document, below].map((each) => {
    const runtime = nonEmptyTextAt(each, ['spec', 'runtime']);
    return runtime === undefined ? undefined : fileBelow(each, runtime);
  });
  if (ours === undefined || theirs === undefined || ours === theirs) return [];
  const message = `${below.file} has the runtime ${theirs}, but this file has ${ours}`;
  return [{ path, message, hint: 'A pipeline and the pipelines that it runs must have the same runtime.' }];
}

/** Includes nested pipelines, but not the tools that models may call. */
export function toolsBelow({ steps, finally: last }: Pipeline): ReadonlySet<string> {
  return new Set([...steps, ...last].flatMap(toolsOf));
}

function toolsOf(step: Step): string[] {
  const handlers = step.onError.kind === 'handle' ? step.onError.steps.flatMap(toolsOf) : [];
  switch (step.kind) {
    case 'tool':
      return [step.tool, ...handlers];
    case 'pipeline':
      return [...toolsBelow(step.pipeline), ...handlers];
    case 'parallel':
      return [...step.steps.flatMap(toolsOf), ...handlers];
    case 'steps':
      return [...[...step.steps, ...step.otherwise].flatMap(toolsOf), ...handlers];
    default:
      return handlers;
  }
}

export function envBelow({ env, steps, finally: last }: Pipeline): readonly string[] {
  return [...new Set([...env, ...pipelinesIn([...steps, ...last]).flatMap(envBelow)])];
}

/** Returns the pipeline and all nested ones, each once, by file. */
export function everyPipeline(
  pipeline: Pipeline,
  found = new Map<string, Pipeline>(),
): Map<string, Pipeline> {
  if (found.has(pipeline.file)) return found;
  found.set(pipeline.file, pipeline);
  for (const each of pipelinesIn([...pipeline.steps, ...pipeline.finally])) everyPipeline(each, found);
  return found;
}

function pipelinesIn(steps: readonly Step[]): Pipeline[] {
  return steps.flatMap((step) => {
    const handlers = step.onError.kind === 'handle' ? pipelinesIn(step.onError.steps) : [];
    const inner = 'steps' in step ? step.steps : [];
    const otherwise = 'otherwise' in step ? step.otherwise : [];
    const own = step.kind === 'pipeline' ? [step.pipeline] : [];
    return [...own, ...pipelinesIn([...inner, ...otherwise]), ...handlers];
  });
}
