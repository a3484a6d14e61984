/** The value that `env` entries set for a name by `NAME=value`; the last one counts. */
export function envLiteralOf(env: readonly string[], name: string): string | undefined {
  return env.findLast((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
}
