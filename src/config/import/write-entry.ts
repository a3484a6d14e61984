import { isAbsolute, relative, resolve } from 'node:path';
import { present } from '../../yaml/present.ts';
import { variablesOf } from '../command/shell-line.ts';
import { picoclawLimits } from '../foreign/picoclaw.ts';
import type { AgentaoDraft, ClaudeDraft, Draft, PicoclawDraft } from './draft.ts';

/** The entry of `spec.hooks` that means what a foreign file declares, with paths from `folder` on. */
export function toEntry(draft: Draft, folder: string): Record<string, unknown> {
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
  const { run, place, event, matcher, condition, isAsync, timeoutMs, onFailure } = draft;
  const { projectDir, pluginRoot } = place;
  const literals = [
    `CLAUDE_PROJECT_DIR=${shortPath(projectDir, folder)}`,
    ...(pluginRoot === undefined ? [] : [`CLAUDE_PLUGIN_ROOT=${shortPath(pluginRoot, folder)}`]),
  ];
  const block = { event, ...present({ matcher, if: condition, async: isAsync || undefined }) };
  const shared = { ...present({ timeout_ms: timeoutMs, on_failure: onFailure }) };
  if (run.type === 'http') {
    const { url, headers, allowedEnvVars } = run;
    const post = {
      type: 'http',
      url,
      ...present({
        headers: Object.keys(headers).length === 0 ? undefined : headers,
        allowedEnvVars: allowedEnvVars.length === 0 ? undefined : allowedEnvVars,
      }),
    };
    const env = allowedEnvVars.length === 0 ? {} : { env: allowedEnvVars };
    return { dialect: 'claude', ...env, ...shared, claude: { ...block, ...post } };
  }
  const { command, args, shell } = run;
  const isRelative = args !== undefined && command.includes('/') && !command.includes('$');
  const named = args === undefined ? variablesOf(command) : [];
  return {
    dialect: 'claude',
    command: isRelative ? shortPath(resolve(projectDir, command), folder) : command,
    ...present({ args }),
    cwd: shortPath(projectDir, folder),
    env: [...literals, ...named],
    ...shared,
    claude: { ...block, ...(shell === 'bash' || shell === 'powershell' ? { shell } : {}) },
  };
}

function writeAgentao(draft: AgentaoDraft, folder: string): Record<string, unknown> {
  const { event, matcher, command, prompt, timeoutMs, projectDir } = draft;
  const block = { event, ...present({ matcher, prompt }) };
  if (command === undefined) return { dialect: 'agentao', agentao: block };
  const named = variablesOf(command);
  const cwd = shortPath(projectDir, folder);
  return {
    dialect: 'agentao',
    command,
    ...(cwd === '.' ? {} : { cwd }),
    ...(named.length === 0 ? {} : { env: named }),
    ...present({ timeout_ms: timeoutMs }),
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
      ...present({
        interceptor_timeout_ms: unless(draft.interceptorTimeoutMs, interceptorTimeoutMs),
        approval_timeout_ms: unless(draft.approvalTimeoutMs, approvalTimeoutMs),
        observer_timeout_ms: unless(draft.observerTimeoutMs, observerTimeoutMs),
      }),
    },
  };
}
