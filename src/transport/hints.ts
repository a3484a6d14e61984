import { RuntimeError } from '../errors.ts';

/** The error with another next step. */
export function withHint(error: RuntimeError, hint: string | undefined): RuntimeError {
  const { code, message, details, cause } = error;
  return hint === undefined ? error : new RuntimeError(code, message, { hint, details, cause });
}

/** What an answerless server wrote meanwhile, which tells why. */
export interface Written {
  /** Lines that are no JSON objects came while the request waited. */
  readonly sawNoise: boolean;
  /** Nothing at all came since the process started. */
  readonly isSilent: boolean;
  /** The dialect has servers only, so that nobody declared a one-shot script as one. */
  readonly isServerOnly: boolean;
}

/** The likely cause of a request to a server that got no reply in time. */
export function hintOfNoReply({ sawNoise, isSilent, isServerOnly }: Written): string | undefined {
  if (sawNoise) {
    return 'The process wrote lines that are no JSON objects meanwhile; a reply must stand on one line, and logs belong on stderr.';
  }
  if (!isSilent) return undefined;
  const flushes =
    'It has written nothing to stdout since it started: if it is not just slow, it must flush each reply (Python: `print(…, flush=True)`)';
  return isServerOnly
    ? `${flushes}, and must not wait for the end of stdin.`
    : `${flushes}; and a script that reads stdin to its end serves one call, so it takes no \`runtime: server\`.`;
}

/** What a server that ended well after a request, and never answered any, was meant to be. */
export const oneshotHint =
  'It ended without having answered anything. A server answers lines until its stdin ends; a script that serves one call takes no `runtime: server`.';

/** The likely cause of a one-shot process that was to be ended, and had already written `bytes`. */
export function hintOfLateEnd(bytes: number): string | undefined {
  if (bytes === 0) return undefined;
  return `It had written ${bytes} bytes to stdout and did not end: the reply of a one-shot process is complete when it exits. One that stays alive takes \`runtime: server\`.`;
}
