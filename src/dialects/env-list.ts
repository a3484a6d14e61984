/** The value that `env` entries set for a name by `NAME=value`; the last one counts. */
export function envLiteralOf(env: readonly string[], name: string): string | undefined {
  return env.findLast((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** A message for header variables that `env` does not name and that stay empty; none when all are named. */
export function findUnfilledVariables(allowed: readonly string[], env: readonly string[]): string[] {
  const named = new Set(env.map((entry) => entry.split('=', 1)[0]));
  const missing = allowed.filter((name) => !named.has(name));
  if (missing.length === 0) return [];
  const verb = missing.length === 1 ? 'stays' : 'stay';
  return [`${missing.join(', ')} ${verb} empty: \`env\` must name what headers use`];
}
