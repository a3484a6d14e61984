import { compileExpressions } from '../../base/expression/expression.ts';
import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { expressionAt, mappingAt } from '../../base/yaml/expressions.ts';
import { omitUndefined } from '../../base/yaml/present.ts';
import { choiceAt, integerAt, itemsAt, millisecondsAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { parseDuration } from '../../config/duration.ts';
import { fileBelow } from './below/file-below.ts';
import type { AskStep, EvalStep, OnError, Pipeline, Step } from './pipeline.ts';
import { everyVariable } from './pipeline.ts';
import { readChat, readThreshold } from './read-chat.ts';
import { readRetry } from './retry.ts';

/** Pipelines that steps may name, by their absolute files. */
export type PipelineOf = (file: string) => Pipeline;

/** The steps of the list at `path`; none when there is no list. */
export function readSteps(document: YamlDocument, path: Path, pipelineOf: PipelineOf): Step[] {
  return itemsAt(document, path).map((item) => readStep(document, item, pipelineOf));
}

type StepBase = Omit<Extract<Step, { kind: 'tool' }>, 'kind' | 'tool' | 'args'>;

function readStep(document: YamlDocument, path: Path, pipelineOf: PipelineOf): Step {
  const base = readBase(document, path, pipelineOf);
  const stepsAt = (key: string) => readSteps(document, [...path, key], pipelineOf);
  const step = valueAt(document, path);
  const kind = isObject(step) ? stepKinds.find((key) => Object.hasOwn(step, key)) : undefined;
  switch (kind) {
    case 'eval':
      return { ...base, kind, ...readEval(document, path) };
    case 'chat':
      return { ...base, kind, ...readChat(document, [...path, 'chat']) };
    case 'parallel':
      return {
        ...base,
        kind,
        steps: stepsAt('parallel'),
        ...omitUndefined({ concurrency: integerAt(document, [...path, 'concurrency']) }),
        failFast: valueAt(document, [...path, 'fail_fast']) === true,
      };
    case 'steps':
      return { ...base, kind, steps: stepsAt('steps'), otherwise: stepsAt('else') };
    case 'pipeline': {
      const file = fileBelow(document, textAt(document, [...path, 'pipeline']) ?? '');
      const input = mappingAt(document, [...path, 'input'], everyVariable);
      return { ...base, kind, pipeline: pipelineOf(file), input };
    }
    case 'ask':
      return { ...base, kind, ...readAsk(document, [...path, 'ask']) };
    case 'wait': {
      const wait = [...path, 'wait'];
      const until = expressionAt(document, [...wait, 'until'], everyVariable);
      const duration = expressionAt(document, wait, everyVariable) ?? compileExpressions('', []);
      return { ...base, kind, wait: until === undefined ? { for: duration } : { until } };
    }
    default: {
      const tool = textAt(document, [...path, 'tool']) ?? '';
      return { ...base, kind: 'tool', tool, args: mappingAt(document, [...path, 'args'], everyVariable) };
    }
  }
}

/** The keys of which a step has exactly one: what it does. */
export const stepKinds = ['tool', 'eval', 'chat', 'parallel', 'steps', 'wait', 'ask', 'pipeline'] as const;

function readBase(document: YamlDocument, path: Path, pipelineOf: PipelineOf): StepBase {
  return {
    id: textAt(document, [...path, 'id']) ?? '',
    position: document.positionOf(path),
    ...omitUndefined({
      condition: expressionAt(document, [...path, 'if'], everyVariable),
      forEach: readForEach(document, path),
      whileLoop: readWhile(document, path),
      timeoutMs: millisecondsAt(document, [...path, 'timeout_ms']),
      retry: readRetry(document, [...path, 'retry']),
    }),
    onError: readOnError(document, [...path, 'on_error'], pipelineOf),
  };
}

function readForEach(document: YamlDocument, path: Path): StepBase['forEach'] | undefined {
  const forEach = [...path, 'for_each'];
  const isLong = isObject(valueAt(document, forEach));
  const items = expressionAt(document, isLong ? [...forEach, 'items'] : forEach, everyVariable);
  if (items === undefined) return undefined;
  const isParallel = valueAt(document, [...path, 'parallel']) !== undefined;
  const short = isParallel ? undefined : integerAt(document, [...path, 'concurrency']);
  return {
    items,
    concurrency: integerAt(document, [...forEach, 'concurrency']) ?? short ?? 1,
    collect: choiceAt(document, [...forEach, 'collect'], ['all', 'last', 'none']) ?? 'all',
    failFast: valueAt(document, [...forEach, 'fail_fast']) === true,
  };
}

function readWhile(document: YamlDocument, path: Path): StepBase['whileLoop'] | undefined {
  const loop = [...path, 'while'];
  const condition = expressionAt(document, [...loop, 'condition'], everyVariable);
  if (condition === undefined) return undefined;
  return {
    condition,
    max: integerAt(document, [...loop, 'max']) ?? 1,
    collect: choiceAt(document, [...loop, 'collect'], ['all', 'last', 'none']) ?? 'last',
  };
}

function readOnError(document: YamlDocument, path: Path, pipelineOf: PipelineOf): OnError {
  if (!isObject(valueAt(document, path))) {
    return { kind: choiceAt(document, path, ['stop', 'continue']) ?? 'stop' };
  }
  const then = choiceAt(document, [...path, 'then'], ['stop', 'continue']) ?? 'stop';
  return { kind: 'handle', steps: readSteps(document, [...path, 'steps'], pipelineOf), then };
}

function readEval(document: YamlDocument, path: Path): Omit<EvalStep, keyof StepBase | 'kind'> {
  return {
    type: textAt(document, [...path, 'eval']) ?? '',
    content: expressionAt(document, [...path, 'content'], everyVariable) ?? compileExpressions('', []),
    params: mappingAt(document, [...path, 'params'], everyVariable),
    ...omitUndefined({
      context: expressionAt(document, [...path, 'context'], everyVariable),
      threshold: readThreshold(document, [...path, 'threshold']),
    }),
    onFail: choiceAt(document, [...path, 'on_fail'], ['stop', 'continue']) ?? 'stop',
  };
}

function readAsk(document: YamlDocument, path: Path): Omit<AskStep, keyof StepBase | 'kind'> {
  const schema = valueAt(document, [...path, 'schema']);
  const by = itemsAt(document, [...path, 'by']).map((item) => textAt(document, item) ?? '');
  return {
    question: expressionAt(document, [...path, 'question'], everyVariable) ?? compileExpressions('', []),
    ...omitUndefined({
      schema: isObject(schema) || typeof schema === 'boolean' ? schema : undefined,
      by: by.length === 0 ? undefined : by,
      expiresMs: parseDuration(textAt(document, [...path, 'expires']) ?? ''),
    }),
  };
}
