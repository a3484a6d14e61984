/** A message for header variables that `env` does not name and that stay empty; none when all are named. */
export function findUnfilledVariables(allowed: readonly string[], env: readonly string[]): string[] {
  const named = new Set(env.map((entry) => entry.split('=', 1)[0]));
  const missing = allowed.filter((name) => !named.has(name));
  return missing.length === 0
    ? []
    : [
        `${missing.join(', ')} ${missing.length === 1 ? 'stays' : 'stay'} empty: \`env\` must name what headers use`,
      ];
}
