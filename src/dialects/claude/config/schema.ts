import { isObject } from '../../../base/json/json.ts';
import type { Path } from '../../../base/yaml/document.ts';
import type { Finding } from '../../../base/yaml/finding.ts';
import { itemsAt, textAt, valueAt } from '../../../base/yaml/read.ts';
import { type EntryRules, modifiesHint, withoutNativeKeys } from '../../dialect-config.ts';
import type { ImportContext, KeyUses } from '../../foreign-files.ts';
import { claudeEvents } from './settings.ts';

const block = {
  type: 'object',
  description: 'A Claude Code handler. Without `args`, the `command` of the entry is a shell line.',
  additionalProperties: false,
  required: ['event'],
  properties: {
    event: { type: 'string', enum: claudeEvents, description: 'The event, by its name in Claude Code.' },
    matcher: {
      type: 'string',
      description:
        'Which events: a name, names separated by | or a comma, or a regular expression. Default: all.',
    },
    if: {
      type: 'string',
      minLength: 1,
      description:
        'One permission rule, as in Bash(git *), that narrows tool events. In doubt the handler runs.',
    },
    type: {
      type: 'string',
      enum: ['command', 'http'],
      description: 'command (default): a process. http: a POST of the payload to `url`.',
    },
    shell: {
      type: 'string',
      enum: ['bash', 'powershell'],
      description: 'The shell that reads the command line if there are no `args`. Default: sh.',
    },
    async: {
      type: 'boolean',
      description: 'Whether it runs in the background; only its context counts, later. Default: false.',
    },
    url: { type: 'string', pattern: '^https?://', description: 'URL to which an http handler posts.' },
    headers: {
      type: 'object',
      additionalProperties: { type: ['string', 'number', 'boolean'] },
      description: 'Headers of the POST; `$NAME` in a value is replaced by a variable of `allowedEnvVars`.',
    },
    allowedEnvVars: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Variables that header values may use. They must be in `env` too.',
    },
    stop_cap: {
      type: 'integer',
      minimum: 0,
      description:
        'Forced continuations in a row after which a Stop handler is overridden; 0 means no limit. Default: 8.',
    },
  },
} as const;

const eventHint = '`claude.event` says when the handler runs.';

export const claudeEntry: EntryRules = {
  block,
  importProperties: {
    prompt_provider: {
      type: 'string',
      minLength: 1,
      description: 'The provider that judges for handlers of type prompt; without it they are refused.',
    },
  },
  required: ['claude'],
  properties: withoutNativeKeys,
  hookRemarks: {
    command: 'A shell line for claude without `args`; not needed for a claude handler of type http.',
  },
  toolRemarks: { aliases: 'Claude hooks receive the first one.' },
  misplacedHints: { hook: eventHint, phases: eventHint, mode: eventHint, modifies: modifiesHint },
  runtimeHint: 'A Claude Code handler starts anew for each event: remove `runtime`.',
  valueMessages: {
    'claude.type': describeRefusedType,
    'claude.event': (value) => `is not an event of Claude Code (got: ${value})`,
  },
  checksCommand: true,
};

const strings = { type: 'array', items: { type: 'string' } } as const;

/** A Claude Code handler that can run here. Keys that are not listed have no effect. */
export const claudeHandlerSchema = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { type: 'string', enum: ['command', 'http', 'prompt'] },
    if: { type: ['string', 'null'] },
    onFailure: { type: 'string', enum: ['block', 'continue'] },
    prompt: { type: 'string', minLength: 1, pattern: '^[^\\u0000]*$' },
    command: { type: 'string', minLength: 1, pattern: '^[^\\u0000]*$' },
    args: { type: ['array', 'null'], items: { type: 'string', pattern: '^[^\\u0000]*$' } },
    async: { type: 'boolean' },
    asyncRewake: { type: 'boolean' },
    shell: { type: 'string', enum: ['bash', 'powershell'] },
    url: { type: 'string', pattern: '^https?://' },
    headers: { type: 'object', additionalProperties: { type: 'string' } },
    allowedEnvVars: strings,
  },
  allOf: [needs('command', 'command'), needs('http', 'url'), needs('prompt', 'prompt')],
} as const;

function needs(type: string, key: string): object {
  const isOf = { properties: { type: { const: type } }, required: ['type'] };
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: isOf, then: { required: [key] } };
}

/**
 * The reason why a handler of that type cannot run here. Undefined for command and http, and for prompt if a provider
 * judges.
 */
export function describeRefusedType(type: string, judge?: ImportContext['judge']): string | undefined {
  if (type === 'command' || type === 'http') return undefined;
  if (type === 'prompt' && judge !== undefined) return undefined;
  if (type === 'prompt' || type === 'agent' || type === 'mcp_tool') {
    return `hook type '${type}' asks a model to judge, which Signalbox does not do; use a command or http handler`;
  }
  return `hook type '${type}' is not known; use a command or http handler`;
}

export function checkPost({ document }: ImportContext, url: string, path: Path): Finding[] {
  const key = ['allowedHttpHookUrls'];
  if (!Array.isArray(valueAt(document, key))) return [];
  const allowed = itemsAt(document, key).map((item) => textAt(document, item) ?? '');
  if (allowed.some((pattern) => fitsPattern(url, pattern))) return [];
  return [{ severity: 'error', path, message: 'is not among allowedHttpHookUrls of this file' }];
}

/** The names that the file's `httpHookAllowedEnvVars` allow. All of them if the file has no such key. */
export function allowedVariables({ document }: ImportContext, names: readonly string[]): string[] {
  const key = ['httpHookAllowedEnvVars'];
  if (!Array.isArray(valueAt(document, key))) return [...names];
  const allowed = itemsAt(document, key).map((item) => textAt(document, item));
  return names.filter((name) => allowed.includes(name));
}

/** `*` stands for any text. Searches each part after the previous one, so many stars take no extra time. */
function fitsPattern(url: string, pattern: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return url === pattern;
  if (!url.startsWith(first) || !url.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = url.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at + last.length <= url.length;
}

const isTrue = (value: unknown) => value === true;
const hasTrue = (value: unknown) => isObject(value) && Object.values(value).some((each) => each !== false);
const hasItems = (value: unknown) => Array.isArray(value) && value.length > 0;

/** Settings unrelated to hooks. Source: the settings schema of Claude Code 2.1.332. */
const otherSettings =
  `$schema additionalDirectoryConfigRoots additionalMarketplaces advisorModel agent agentPushNotifEnabled
allowAllClaudeAiMcps allowClaudeInChromeWithManagedMcp allowManagedMcpServersOnly allowNestedModelAccessUnderForceLogin
allowedChannelPlugins allowedMarketplaces allowedMcpServers allowedProviders alwaysThinkingEnabled apiKeyHelper
askUserQuestionTimeout attribution attributionProject attributionProjectPolicy autoCompactEnabled autoCompactOfferAnswer
autoCompactRaisedForLoad autoCompactWindow autoContinueAtUsageLimit autoDreamEnabled autoMemoryDirectory autoMemoryEnabled
autoScrollEnabled autoUpdatesChannel autoUploadSessions availableModels availableModelsMatch awaySummaryEnabled awsAuthRefresh
awsCredentialExport bashEditDiffEnabled bashOutputMaxChars blockedMarketplaces breakReminder channelsEnabled claudeMd
claudeMdExcludes clawdFileProgressEnabled cleanupPeriodDays companyAnnouncements crossSessionInbound daemonColdStart
defaultShell deniedMcpServers deniedModels desktopMcpServersListScope desktopSessionCleanupPeriodDays dialogExpiry
disableAgentView disableArtifact disableAutoMode disableBundledSkills disableClaudeAiConnectors disableCommandPluginSources
disableDirectMcpSkills disableRemoteControl disableReplyCheck disableSideloadFlags disableSkillShellExecution
disableWindowsBashCommandSplit disableWorkflows disabledMcpjsonServers doneMeansMerged downloadsMirrorUrl editorMode
effortLevel emojiCompletionEnabled enableAllProjectMcpServers enableArtifact enableWorkflows enabledMcpjsonServers
enforceAvailableModels env extraKnownMarketplaces fallbackModel fastMode fastModePerSessionOptIn feedbackDrafts
feedbackSurveyRate fileCheckpointingEnabled fileSuggestion footerLinksRegexes forceLoginGatewayUrl forceLoginMethod
forceLoginOrgUUID forceRemoteSettingsRefresh gatewayInternalNetworks gcpAuthRefresh idleCompaction includeCoAuthoredBy
includeGitInstructions inputNeededNotifEnabled isolatePeerMachines keybindingFlavor language managedMcpServers
managedSourcesBehavior maxEffortLevel maxProseWidth minimumVersion model modelCatalogPublicKey modelCatalogUrl modelOverrides
modelPicker modelPricing modelProposedGoals modelSettings otelHeadersHelper outputStyle parentSettingsBehavior plansDirectory
pluginConfigs pluginSuggestionMarketplaces pluginTrustMessage precomputeArmTokens precomputeCompactionEnabled
preferredNotifChannel prefersReducedMotion prUrlTemplate processWrapper promptCacheTtl promptSuggestionEnabled
proxyAuthHelper quietHours remote remoteControl remoteControlAtStartup remoteMessageReceipts remoteTools
requiredMaximumVersion requiredMinimumVersion respectGitignore respondToBashCommands responseComparisonEnabled
showClearContextOnPlanAccept showMessageTimestamps showThinkingSummaries showTurnDuration skillListingBudgetFraction
skillListingMaxDescChars skillOverrides skipDangerousModePermissionPrompt skipWebFetchPreflight skipWorkflowUsageWarning
spellcheck spinnerTipsEnabled spinnerTipsOverride spinnerVerbs sshConfigs sshHostCommands statusLine strictKnownMarketplaces
strictPluginOnlyCustomization subagentPromptCacheTtl subagentStatusLine switchModelsOnFlag syncClaudeAiPlugins
syncClaudeAiSkills syntaxHighlightingDisabled taskOutputMaxChars teammateMode terminalProgressBarEnabled
terminalTitleFromRename theme timeFormat timeZone todoFeatureEnabled totalTokensReminder totalTokensReminderAfterUserTurn
totalTokensReminderBudget tui ultracode verbose viewMode vimInsertModeRemaps voice wheelScrollAccelerationEnabled
workflowKeywordTriggerEnabled workflowSizeGuideline worktree wslInheritsWindowsSettings xaaIdp`.split(/\s+/);

export const claudeFileKeys: KeyUses = {
  ...Object.fromEntries(otherSettings.map((key) => [key, 'irrelevant'] as const)),
  hooks: 'read',
  disableAllHooks: 'read',
  allowedHttpHookUrls: 'read',
  httpHookAllowedEnvVars: 'read',
  description: 'irrelevant',
  modules: { guard: 'names a hooks module, which only Claude Code can run', isSet: hasItems },
  surface: 'irrelevant',
  permissions: { left: 'rules are not hooks, and are not imported', isSet: isObject },
  sandbox: {
    left: 'confines only the commands of Claude Code',
    isSet: (value) => isObject(value) && value['enabled'] === true,
  },
  enabledPlugins: {
    left: 'names plugins, whose hooks are imported from their own folders only',
    isSet: hasTrue,
  },
  prependPlugins: {
    left: 'names plugins, whose hooks are imported from their own folders only',
    isSet: hasItems,
  },
  appendPlugins: {
    left: 'names plugins, whose hooks are imported from their own folders only',
    isSet: hasItems,
  },
  policyHelper: { left: 'names a program that provides settings, which does not run here' },
  policyHelpers: { left: 'names programs that provide settings, which do not run here' },
  allowManagedHooksOnly: {
    left: 'makes Claude Code run only managed hooks; those of this file run here',
    isSet: isTrue,
  },
  allowManagedPermissionRulesOnly: 'irrelevant',
};

/** Top-level keys of a plugin's manifest. Source: the manifest schema of Claude Code 2.1.332. */
export const claudeManifestKeys: KeyUses = {
  ...Object.fromEntries(
    `$schema name displayName version description author homepage repository license keywords defaultEnabled metadata engines
network commands agents skills outputStyles themes workflows channels mcpServers lspServers monitors settings types userConfig
binaries experimental`
      .split(/\s+/)
      .map((key) => [key, 'irrelevant'] as const),
  ),
  hooks: 'read',
  modules: { guard: 'names a hooks module, which only Claude Code can run', isSet: hasItems },
  dependencies: {
    left: 'names plugins, whose hooks are imported from their own folders only',
    isSet: hasItems,
  },
  optionalDependencies: 'irrelevant',
};
