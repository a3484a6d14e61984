import { RuntimeError } from '../base/errors.ts';

/** The error with this hint in place of its own; the same error without one. */
export function withHint(error: RuntimeError, hint: string | undefined): RuntimeError {
  const { code, message, details, cause } = error;
  return hint === undefined ? error : new RuntimeError(code, message, { hint, details, cause });
}

/** What a server that sent no reply wrote meanwhile. */
export interface ServerOutput {
  /** Lines that are no JSON objects came while the request waited. */
  readonly hasNoise: boolean;
  /** Nothing at all came since the process started. */
  readonly hasNoOutput: boolean;
  /**
   * The dialect knows servers only, so the entry cannot be a one-shot script declared as a server by mistake.
   */
  readonly isServerOnly: boolean;
}

/** The likely cause of a request to a server that got no reply in time. */
export function noReplyHint({ hasNoise, hasNoOutput, isServerOnly }: ServerOutput): string | undefined {
  if (hasNoise) {
    return 'The process wrote lines that are no JSON objects meanwhile; a reply must stand on one line, and logs belong on stderr.';
  }
  if (!hasNoOutput) return undefined;
  const flushes =
    'It has written nothing to stdout since it started: if it is not just slow, it must flush each reply (Python: `print(…, flush=True)`)';
  return isServerOnly
    ? `${flushes}, and must not wait for the end of stdin.`
    : `${flushes}; and a script that reads stdin to its end serves one call, so it takes no \`runtime: server\`.`;
}

/** The hint for a server that exited with 0 and never answered: it is probably a one-shot script. */
export const oneshotHint =
  'It ended without having answered anything. A server answers lines until its stdin ends; a script that serves one call takes no `runtime: server`.';

/** The hint for a one-shot process that timed out after writing `bytes`; undefined when it wrote nothing. */
export function lateExitHint(bytes: number): string | undefined {
  if (bytes === 0) return undefined;
  return `It had written ${bytes} bytes to stdout and did not end: the reply of a one-shot process is complete when it exits. One that stays alive takes \`runtime: server\`.`;
}
