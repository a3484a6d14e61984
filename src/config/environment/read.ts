import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { toRuntimeError } from '../../base/errors.ts';
import { readText, type YamlDocument } from '../../base/yaml/document.ts';
import { type Finding, isError } from '../../base/yaml/finding.ts';
import { type Problem, placeKey } from '../../base/yaml/problem.ts';
import { nonEmptyTextAt, valueAt } from '../../base/yaml/read.ts';
import type { HostEnv } from '../../process/env.ts';
import type { ConfigEnvironment, RuntimeConfig } from '../config.ts';
import { locateFinding, promptkitVersion } from '../schema.ts';
import { type FilledDocument, fillDocument, type Variables } from './fill.ts';

interface ReadEnvironment {
  readonly filled: FilledDocument;
  readonly problems: readonly Problem[];
  readonly isOwn: (problem: Problem) => boolean;
  readonly used: ConfigEnvironment | undefined;
}

/** Fills environment variables into a document. In PromptKit's files `${env:…}` is plain text, as in PromptKit. */
export function readEnvironment(document: YamlDocument, folder: string, env: Variables): ReadEnvironment {
  const { variables, findings: ofFile, file } = readEnvFile(document, folder);
  const isText = valueAt(document, ['apiVersion']) === promptkitVersion || document.value === undefined;
  const set = Object.entries(env).filter(([, value]) => value !== undefined);
  const filled = isText
    ? { document, findings: [], filled: [], secrets: new Map<string, string>() }
    : fillDocument(document, { ...variables, ...Object.fromEntries(set) });
  // If the env file is missing, so are its variables; one problem is enough.
  const findings = ofFile.length > 0 ? ofFile : filled.findings;
  const unfilled = new Set(
    filled.findings.filter(isError).map((finding) => placeKey(locateFinding(document, finding))),
  );
  const secrets = [...filled.secrets.values()];
  return {
    filled,
    problems: findings.map((finding) => locateFinding(document, finding)),
    isOwn: (problem) => !unfilled.has(placeKey(problem)),
    used:
      file === undefined && secrets.length === 0
        ? undefined
        : { variables, secrets, ...(file === undefined ? {} : { file }) },
  };
}

interface EnvFile {
  readonly variables: Readonly<Record<string, string>>;
  readonly findings: readonly Finding[];
  readonly file: string | undefined;
}

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
    const hint = 'Create the file, or remove `env_file`; an overlay removes it with `env_file: null`.';
    return refuse(toRuntimeError(thrown).message, hint);
  }
}

const envFilePath = ['spec', 'env_file'] as const;

/** Adds the variables of the config's env file; those of the host take precedence. */
export function environmentOf({ environment }: RuntimeConfig, host: HostEnv): HostEnv {
  if (environment === undefined) return host;
  const set = Object.entries(host).filter(([, value]) => value !== undefined);
  return { ...environment.variables, ...Object.fromEntries(set) };
}
