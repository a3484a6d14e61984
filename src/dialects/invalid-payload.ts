import { RuntimeError } from '../errors.ts';

/** The error of a payload that a host got wrong at a point of a foreign dialect. */
export function invalidPayload(message: string): RuntimeError {
  const hint =
    'A payload is what the point has on stdin; docs/dialects.md lists the points of every dialect.';
  return new RuntimeError('EVENT_INVALID', message, { hint });
}
