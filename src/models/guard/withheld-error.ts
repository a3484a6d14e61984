import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';

/**
 * A provider's error without text of an answer that no hook has seen: errors about an answer that could not
 * be parsed quote it and become PROVIDER_FAILED. All others pass unchanged, so that callers can retry.
 */
export function withoutAnswerText(thrown: unknown): unknown {
  if (!quotesAnswer(thrown)) return thrown;
  return new RuntimeError('PROVIDER_FAILED', 'the model’s answer could not be read', {
    hint: 'The answer itself is withheld, because no hook has seen it.',
  });
}

const quotingErrors = new Set([
  'AI_TypeValidationError',
  'AI_JSONParseError',
  'AI_InvalidResponseDataError',
  'AI_NoContentGeneratedError',
  'AI_NoObjectGeneratedError',
]);

function quotesAnswer(thrown: unknown): boolean {
  let error = thrown;
  for (let depth = 0; isObject(error); depth++) {
    const { name, statusCode: status, cause, errors } = error;
    if (typeof name === 'string' && quotingErrors.has(name)) return true;
    if (typeof status === 'number' && status < 300) return true;
    if (Array.isArray(errors) && errors.some(quotesAnswer)) return true;
    // A chain of causes may be a circle.
    if (depth > 16) return true;
    error = cause;
  }
  return false;
}
