import { isAbsolute, relative, resolve } from 'node:path';
import { omitUndefined } from '../../yaml/present.ts';
import { variablesOf } from '../command/shell-line.ts';
import { picoclawLimits } from '../foreign/picoclaw.ts';
import type { AgentaoDraft, ClaudeDraft, HookDraft, PicoclawDraft } from './draft.ts';

/** The entry of `spec.hooks` for a hook of a foreign file, with paths relative to `folder`. */
export function toEntry(draft: HookDraft, folder: string): Record<string, unknown> {
  switch (draft.dialect) {
    case 'claude':
      return writeClaude(draft, folder);
    case 'agentao':
      return writeAgentao(draft, folder);
    case 'picoclaw':
      return writePicoclaw(draft, folder);
  }
}

/** A path as a config file in `folder` would write it. */
export function shortPath(path: string, folder: string): string {
  const short = relative(folder, path);
  if (short === '') return '.';
  return short.startsWith('..') || isAbsolute(short) ? short : `./${short}`;
}

function writeClaude(draft: ClaudeDraft, folder: string): Record<string, unknown> {
  const { run, folders, event, matcher, condition, isAsync, timeoutMs, onFailure } = draft;
  const { projectDir, pluginRoot } = folders;
  const literals = [
    `CLAUDE_PROJECT_DIR=${shortPath(projectDir, folder)}`,
    ...(pluginRoot === undefined ? [] : [`CLAUDE_PLUGIN_ROOT=${shortPath(pluginRoot, folder)}`]),
  ];
  const block = { event, ...omitUndefined({ matcher, if: condition, async: isAsync || undefined }) };
  const shared = { ...omitUndefined({ timeout_ms: timeoutMs, on_failure: onFailure }) };
  if (run.type === 'http') {
    const { url, headers, allowedEnvVars } = run;
    const post = {
      type: 'http',
      url,
      ...omitUndefined({
        headers: Object.keys(headers).length === 0 ? undefined : headers,
        allowedEnvVars: allowedEnvVars.length === 0 ? undefined : allowedEnvVars,
      }),
    };
    const env = allowedEnvVars.length === 0 ? {} : { env: allowedEnvVars };
    return { dialect: 'claude', ...env, ...shared, claude: { ...block, ...post } };
  }
  const { command, args, shell } = run;
  const isRelative = args !== undefined && command.includes('/') && !command.includes('$');
  const variables = args === undefined ? variablesOf(command) : [];
  return {
    dialect: 'claude',
    command: isRelative ? shortPath(resolve(projectDir, command), folder) : command,
    ...omitUndefined({ args }),
    cwd: shortPath(projectDir, folder),
    env: [...literals, ...variables],
    ...shared,
    claude: { ...block, ...(shell === 'bash' || shell === 'powershell' ? { shell } : {}) },
  };
}

function writeAgentao(draft: AgentaoDraft, folder: string): Record<string, unknown> {
  const { event, matcher, command, prompt, timeoutMs, projectDir } = draft;
  const block = { event, ...omitUndefined({ matcher, prompt }) };
  if (command === undefined) return { dialect: 'agentao', agentao: block };
  const variables = variablesOf(command);
  const cwd = shortPath(projectDir, folder);
  return {
    dialect: 'agentao',
    command,
    ...(cwd === '.' ? {} : { cwd }),
    ...(variables.length === 0 ? {} : { env: variables }),
    ...omitUndefined({ timeout_ms: timeoutMs }),
    agentao: block,
  };
}

function writePicoclaw(draft: PicoclawDraft, folder: string): Record<string, unknown> {
  const { command, args, dir, env, intercept, observe } = draft;
  const { interceptorTimeoutMs, approvalTimeoutMs, observerTimeoutMs } = picoclawLimits;
  const unless = (value: number, standard: number) => (value === standard ? undefined : value);
  return {
    dialect: 'picoclaw',
    command: isAbsolute(command) ? shortPath(command, folder) : command,
    ...(args.length === 0 ? {} : { args }),
    ...(env.length === 0 ? {} : { env }),
    picoclaw: {
      ...(intercept.length === 0 ? {} : { intercept }),
      ...(observe.length === 0 ? {} : { observe }),
      dir: shortPath(dir, folder),
      ...omitUndefined({
        interceptor_timeout_ms: unless(draft.interceptorTimeoutMs, interceptorTimeoutMs),
        approval_timeout_ms: unless(draft.approvalTimeoutMs, approvalTimeoutMs),
        observer_timeout_ms: unless(draft.observerTimeoutMs, observerTimeoutMs),
      }),
    },
  };
}
