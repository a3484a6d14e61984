import { RuntimeError } from '../../errors.ts';
import { isObject } from '../../json/json.ts';

/**
 * A provider's error without words of an answer that no hook has judged: errors about an answer that could
 * not be read quote it. All others pass as they are, so that callers can tell what to try again.
 */
export function withoutAnswer(thrown: unknown): unknown {
  if (!quotesAnswer(thrown)) return thrown;
  return new RuntimeError('PROVIDER_FAILED', 'the model’s answer could not be read', {
    hint: 'The answer itself is withheld, because no hook has seen it.',
  });
}

const quoting = new Set([
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
    if (typeof name === 'string' && quoting.has(name)) return true;
    if (typeof status === 'number' && status < 300) return true;
    if (Array.isArray(errors) && errors.some(quotesAnswer)) return true;
    // A chain of causes may be a circle.
    if (depth > 16) return true;
    error = cause;
  }
  return false;
}
