import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { toRuntimeError } from '../../base/errors.ts';
import { readText, type YamlDocument } from '../../base/yaml/document.ts';
import { type Finding, isError } from '../../base/yaml/finding.ts';
import type { Problem } from '../../base/yaml/problem.ts';
import { nonEmptyTextAt, valueAt } from '../../base/yaml/read.ts';
import type { HostEnv } from '../../process/env.ts';
import type { ConfigEnvironment, RuntimeConfig } from '../config.ts';
import { locateFinding, promptkitVersion } from '../schema.ts';
import { type FilledDocument, fillDocument, type Variables } from './fill.ts';

/** A RuntimeConfig document with what it has of the environment. */
interface ReadEnvironment {
  readonly filled: FilledDocument;
  readonly problems: readonly Problem[];
  /** Whether a problem is more than the echo of a reference that could not be filled in. */
  readonly isOwn: (problem: Problem) => boolean;
  /** Undefined where the config uses nothing of it. */
  readonly used: ConfigEnvironment | undefined;
}

/** Fills the environment into a document. In PromptKit's files `${env:…}` is text, as it is for PromptKit. */
export function readEnvironment(document: YamlDocument, folder: string, env: Variables): ReadEnvironment {
  const { variables, findings: ofFile, file } = readEnvFile(document, folder);
  const isText = valueAt(document, ['apiVersion']) === promptkitVersion || document.value === undefined;
  const set = Object.entries(env).filter(([, value]) => value !== undefined);
  const filled = isText
    ? { document, findings: [], filled: [], secrets: new Map<string, string>() }
    : fillDocument(document, { ...variables, ...Object.fromEntries(set) });
  // Where the file of variables is missing, so are they: one problem says so.
  const findings = ofFile.length > 0 ? ofFile : filled.findings;
  const unfilled = filled.findings.filter(isError).map((finding) => locateFinding(document, finding));
  const secrets = [...filled.secrets.values()];
  return {
    filled,
    problems: findings.map((finding) => locateFinding(document, finding)),
    isOwn: ({ line, column, file: place }) =>
      !unfilled.some((each) => each.line === line && each.column === column && each.file === place),
    used:
      file === undefined && secrets.length === 0
        ? undefined
        : { variables, secrets, ...(file === undefined ? {} : { file }) },
  };
}

/** The variables of `spec.env_file`, and why it could not be read. */
interface EnvFile {
  readonly variables: Readonly<Record<string, string>>;
  readonly findings: readonly Finding[];
  /** Absolute; undefined where the config names none. */
  readonly file: string | undefined;
}

/** Reads the file that `spec.env_file` names; `folder` is the config's. */
function readEnvFile(document: YamlDocument, folder: string): EnvFile {
  const name = nonEmptyTextAt(document, envFilePath);
  if (name === undefined) return { variables: {}, findings: [], file: undefined };
  const file = resolve(folder, name);
  const refuse = (message: string, hint: string): EnvFile => ({
    ...{ variables: {}, file },
    findings: [{ path: envFilePath, message, hint }],
  });
  try {
    const text = readText(file);
    if (typeof text !== 'string')
      return refuse(`${name}:${text.line}:${text.column} ${text.message}`, 'Save it as UTF-8.');
    const variables: Record<string, string> = {};
    for (const [key, value] of Object.entries(parseEnv(text)))
      if (value !== undefined) variables[key] = value;
    return { variables, findings: [], file };
  } catch (thrown) {
    const hint = 'Make the file, or take `env_file` out: an overlay does with `env_file: null`.';
    return refuse(toRuntimeError(thrown).message, hint);
  }
}

/** Where a config names its file of variables. */
const envFilePath = ['spec', 'env_file'] as const;

/** The environment with the variables of the config's own file, which count where the host has none of the name. */
export function environmentOf({ environment }: RuntimeConfig, host: HostEnv): HostEnv {
  if (environment === undefined) return host;
  const set = Object.entries(host).filter(([, value]) => value !== undefined);
  return { ...environment.variables, ...Object.fromEntries(set) };
}
