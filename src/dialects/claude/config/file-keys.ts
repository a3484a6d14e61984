import { isObject } from '../../../json/json.ts';
import type { KeyUses } from '../../import-context.ts';

const isTrue = (value: unknown) => value === true;
const hasTrue = (value: unknown) => isObject(value) && Object.values(value).some((each) => each !== false);
const hasItems = (value: unknown) => Array.isArray(value) && value.length > 0;

/** Settings that say nothing of hooks. Source: the settings schema of Claude Code 2.1.332. */
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

/** Top-level keys of settings files, and of a plugin's `hooks/hooks.json`. */
export const claudeFileKeys: KeyUses = {
  ...Object.fromEntries(otherSettings.map((key) => [key, 'irrelevant'] as const)),
  hooks: 'read',
  disableAllHooks: 'read',
  allowedHttpHookUrls: 'read',
  httpHookAllowedEnvVars: 'read',
  description: 'irrelevant',
  modules: { guard: 'names a hooks module, which only Claude Code can run', isSet: hasItems },
  surface: 'irrelevant',
  permissions: { left: 'rules are not hooks, and are left where they are', isSet: isObject },
  sandbox: {
    left: 'confines the commands of Claude Code, and nothing here',
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
  policyHelper: { left: 'names a program that gives settings, which is not asked here' },
  policyHelpers: { left: 'names programs that give settings, which are not asked here' },
  allowManagedHooksOnly: {
    left: 'lets Claude Code run managed hooks alone; those of this file run here',
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
