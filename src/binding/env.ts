/** A closed environment: what a process sees, which of it is secret, and which names the host lacks. */
export interface ClosedEnv {
  readonly variables: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly missing: readonly string[];
}

/** Environment variables by name. */
export type HostEnv = Readonly<Record<string, string | undefined>>;

const alwaysForwarded = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'USER'];

/**
 * Closes the environment over `entries`: a name forwards the host's value, `NAME=value` sets a literal.
 * Forwarded values are secrets; literals stand in the file for all to read.
 */
export function closeEnv(entries: readonly string[], host: HostEnv): ClosedEnv {
  const variables: Record<string, string> = {};
  const secrets: string[] = [];
  const missing: string[] = [];
  for (const name of [...alwaysForwarded, ...Object.keys(host).filter((key) => key.startsWith('LC_'))]) {
    const value = host[name];
    if (value !== undefined) variables[name] = value;
  }
  for (const entry of entries) {
    const equals = entry.indexOf('=');
    const name = equals === -1 ? entry : entry.slice(0, equals);
    const value = equals === -1 ? host[name] : entry.slice(equals + 1);
    if (value === undefined) missing.push(name);
    else variables[name] = value;
    if (equals === -1 && value !== undefined && !alwaysForwarded.includes(name)) secrets.push(value);
  }
  return { variables, secrets, missing };
}

/** The environment of this process, read in this one place. */
export function hostEnv(): HostEnv {
  return process.env;
}
