import type { Path, YamlDocument } from '../config/document.ts';
import { present } from '../config/present.ts';
import { choiceAt, finiteAt, itemsAt, textAt, valueAt, wholeAt } from '../config/read.ts';
import type { Threshold } from '../contract/eval.ts';
import { compileExpressions } from '../expression.ts';
import { isObject } from '../json.ts';
import type { ChatStep, Guardrail } from './model.ts';
import { expressionAt, mappingAt } from './read-expression.ts';

/** What the `chat` at `path` says, and nothing of the step around it. */
export function readChat(
  document: YamlDocument,
  path: Path,
): Pick<ChatStep, 'provider' | 'messages' | 'tools' | 'guardrails'> &
  Pick<
    ChatStep,
    'system' | 'maxRounds' | 'toolConcurrency' | 'retries' | 'stream' | 'temperature' | 'maxTokens'
  > {
  const at = (key: string): Path => [...path, key];
  return {
    provider: textAt(document, at('provider')) ?? '',
    messages: expressionAt(document, at('messages')) ?? compileExpressions([], []),
    tools: itemsAt(document, at('tools')).map((item) => textAt(document, item) ?? ''),
    maxRounds: wholeAt(document, at('max_rounds')) ?? 8,
    toolConcurrency: wholeAt(document, at('tool_concurrency')) ?? 4,
    guardrails: itemsAt(document, at('guardrails')).map((item) => readGuardrail(document, item)),
    retries: wholeAt(document, at('retries'), 0) ?? 0,
    ...present({
      system: expressionAt(document, at('system')),
      stream: choiceAt(document, at('stream'), ['hold', 'windowed']),
      temperature: finiteAt(document, at('temperature')),
      maxTokens: wholeAt(document, at('max_tokens')),
    }),
  };
}

function readGuardrail(document: YamlDocument, path: Path): Guardrail {
  return {
    id: guardrailIdAt(document, path) ?? '',
    type: textAt(document, [...path, 'eval']) ?? '',
    params: mappingAt(document, [...path, 'params']),
    ...present({ threshold: readThreshold(document, [...path, 'threshold']) }),
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
  return present({
    min_score: finiteAt(document, [...path, 'min_score']),
    max_score: finiteAt(document, [...path, 'max_score']),
  });
}
