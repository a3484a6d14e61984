interface ClosedEnv {
  readonly variables: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly missing: readonly string[];
}

export type HostEnv = Readonly<Record<string, string | undefined>>;

const alwaysForwarded = new Set(['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'USER']);

/** A name in `entries` forwards the host's value, a secret; `NAME=value` sets a literal. */
export function closeEnv(entries: readonly string[], host: HostEnv): ClosedEnv {
  const read = (name: string) => (Object.hasOwn(host, name) ? host[name] : undefined);
  const variables: Record<string, string> = {};
  const secrets: string[] = [];
  const missing: string[] = [];
  for (const name of Object.keys(host).filter(isAlwaysForwarded)) {
    const value = read(name);
    if (value !== undefined) variables[name] = value;
  }
  for (const entry of entries) {
    const equals = entry.indexOf('=');
    const name = equals === -1 ? entry : entry.slice(0, equals);
    const value = equals === -1 ? read(name) : entry.slice(equals + 1);
    if (value === undefined) missing.push(name);
    else variables[name] = value;
    if (equals === -1 && value !== undefined && !isAlwaysForwarded(name)) secrets.push(value);
  }
  return { variables, secrets, missing };
}

export function isAlwaysForwarded(name: string): boolean {
  return alwaysForwarded.has(name) || name.startsWith('LC_');
}

export function hostEnv(): HostEnv {
  return process.env;
}

/** Runs work whose packages read variables of this process with a prefix: they find those of `env` instead. */
export function withVariables<Result>(prefix: string, env: HostEnv, work: () => Result): Result {
  const chosen = (variables: HostEnv) =>
    Object.fromEntries(
      Object.entries(variables).filter(([name, value]) => name.startsWith(prefix) && value !== undefined),
    );
  const set = (variables: HostEnv) => {
    for (const name of Object.keys(chosen(process.env))) delete process.env[name];
    Object.assign(process.env, variables);
  };
  const [own, others] = [chosen(process.env), chosen(env)];
  try {
    set(others);
    return work();
  } finally {
    set(own);
  }
}
