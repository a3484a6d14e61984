import type { ClaudeHttp } from '../config/config.ts';

/** A fully resolved HTTP endpoint of an http handler. */
export interface HttpBinding {
  /** The entry's name. */
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** Values of forwarded variables, which no log may show. */
  readonly secrets: readonly string[];
}

/** Header values in which `$NAME` and `${NAME}` are filled: what is not both allowed and in `env` becomes empty. */
export function fillHeaders(
  { headers, allowedEnvVars, env }: Pick<ClaudeHttp, 'headers' | 'allowedEnvVars' | 'env'>,
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  const named = new Set(env.map((entry) => entry.split('=', 1)[0]));
  const read = (name: string): string =>
    allowedEnvVars.includes(name) && named.has(name) ? (variables[name] ?? '') : '';
  return Object.fromEntries(
    Object.entries(headers).map(([header, value]) => [
      header,
      value.replaceAll(/\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g, (_all, braced?: string, bare?: string) =>
        read(braced ?? bare ?? ''),
      ),
    ]),
  );
}
