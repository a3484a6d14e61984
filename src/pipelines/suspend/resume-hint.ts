import { RuntimeError, toRuntimeError } from '../../base/errors.ts';

/**
 * The error with the run id and a hint how to resume; errors other than ABORTED and STORE_FAILED are
 * unchanged.
 */
export function withRunId(thrown: unknown, id: string): RuntimeError {
  const error = toRuntimeError(thrown);
  const { code, message, details } = error;
  if ((code !== 'ABORTED' && code !== 'STORE_FAILED') || details['run_id'] === id) return error;
  const hint = `Go on with \`signalbox runs resume ${id}\`.`;
  const options = {
    hint: code === 'ABORTED' ? hint : error.hint,
    details: { ...details, run_id: id },
    cause: error,
  };
  return new RuntimeError(code, `run ${id}: ${message}`, options);
}
