import { RuntimeError } from '../../base/errors.ts';

/** SANDBOX_FAILED: nothing was run, since its sandbox cannot be had or does not show it. */
export function sandboxError(
  entry: string,
  sandbox: { readonly name: string; readonly mode: string },
  reason: string,
  options: { readonly hint?: string | undefined; readonly cause?: unknown } = {},
): RuntimeError {
  const { name, mode } = sandbox;
  return new RuntimeError('SANDBOX_FAILED', `"${entry}" was not run: ${reason}`, {
    ...options,
    details: { sandbox: { name, mode } },
  });
}
