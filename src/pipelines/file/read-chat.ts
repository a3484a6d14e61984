import { compileExpressions } from '../../base/expression/expression.ts';
import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { expressionAt, mappingAt } from '../../base/yaml/expressions.ts';
import { omitUndefined } from '../../base/yaml/present.ts';
import { choiceAt, integerAt, itemsAt, numberAt, schemaAt, textAt, valueAt } from '../../base/yaml/read.ts';
import type { Threshold } from '../../contract/eval.ts';
import type { Chat, Guardrail } from './pipeline.ts';
import { everyVariable } from './pipeline.ts';

/** What the `chat` at `path` says; its expressions see `variables`. */
export function readChat(
  document: YamlDocument,
  path: Path,
  variables: readonly string[] = everyVariable,
): Chat {
  const at = (key: string): Path => [...path, key];
  return {
    provider: textAt(document, at('provider')) ?? '',
    messages: expressionAt(document, at('messages'), variables) ?? compileExpressions([], []),
    tools: itemsAt(document, at('tools')).map((item) => textAt(document, item) ?? ''),
    maxRounds: integerAt(document, at('max_rounds')) ?? 8,
    toolConcurrency: integerAt(document, at('tool_concurrency')) ?? 4,
    guardrails: itemsAt(document, at('guardrails')).map((item) => readGuardrail(document, item, variables)),
    retries: integerAt(document, at('retries'), 0) ?? 0,
    ...omitUndefined({
      system: expressionAt(document, at('system'), variables),
      stream: choiceAt(document, at('stream'), ['hold', 'windowed']),
      temperature: numberAt(document, at('temperature')),
      maxTokens: integerAt(document, at('max_tokens')),
      topP: numberAt(document, at('top_p')),
      stop: readStop(document, at('stop')),
      seed: numberAt(document, at('seed')),
      toolChoice: readToolChoice(document, at('tool_choice')),
      outputSchema: readOutputSchema(document, [...at('output'), 'schema']),
    }),
  };
}

function readStop(document: YamlDocument, path: Path): readonly string[] | undefined {
  const texts = itemsAt(document, path).flatMap((item) => textAt(document, item) ?? []);
  return texts.length === 0 ? undefined : texts;
}

function readToolChoice(document: YamlDocument, path: Path): Chat['toolChoice'] {
  const tool = textAt(document, [...path, 'tool']);
  return tool === undefined ? choiceAt(document, path, ['auto', 'none', 'required'] as const) : { tool };
}

function readOutputSchema(document: YamlDocument, path: Path): Chat['outputSchema'] {
  const schema = schemaAt(document, path);
  return isObject(schema) ? schema : undefined;
}

function readGuardrail(document: YamlDocument, path: Path, variables: readonly string[]): Guardrail {
  return {
    id: guardrailIdAt(document, path) ?? '',
    type: textAt(document, [...path, 'eval']) ?? '',
    params: mappingAt(document, [...path, 'params'], variables),
    context: mappingAt(document, [...path, 'context'], variables),
    ...omitUndefined({ threshold: readThreshold(document, [...path, 'threshold']) }),
    action: choiceAt(document, [...path, 'action'], ['enforce', 'monitor']) ?? 'enforce',
  };
}

/** A guardrail without an id of its own is called by the type of its eval. */
export function guardrailIdAt(document: YamlDocument, path: Path): string | undefined {
  return textAt(document, [...path, 'id']) ?? textAt(document, [...path, 'eval']);
}

/** The bounds at `path`; undefined when there are none, not even empty ones. */
export function readThreshold(document: YamlDocument, path: Path): Threshold | undefined {
  if (!isObject(valueAt(document, path))) return undefined;
  return omitUndefined({
    min_score: numberAt(document, [...path, 'min_score']),
    max_score: numberAt(document, [...path, 'max_score']),
  });
}
