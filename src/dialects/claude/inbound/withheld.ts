import { isObject } from '../../../base/json/json.ts';

/**
 * A result of a tool, in the form that its published type asks for, in which nothing of the result is left but literals of
 * the type, flags and null; undefined where the type is not known. Claude Code drops a result of any other form, and the model
 * then reads the original.
 */
export function withholdResult(
  tool: string,
  result: unknown,
  text: string,
): { readonly result: unknown } | undefined {
  const type = typeOf(tool);
  if (type === undefined) return undefined;
  const filled = fill(type, result, text);
  return { result: filled === misfit ? blank(type, text) : filled };
}

/** Whether a result has the published type of the tool's results; true for a tool without one. */
export function fitsResultType(tool: string, result: unknown): boolean {
  const type = typeOf(tool);
  return type === undefined || fits(type, result);
}

function typeOf(tool: string): ResultType | undefined {
  const name = tool.startsWith('mcp__') ? 'mcp__*' : tool;
  const code = Object.hasOwn(resultTypes, name) ? resultTypes[name] : undefined;
  return code === undefined ? undefined : parseType(code);
}

/** A type as its declaration spells it. */
type ResultType =
  | { readonly kind: 'string' | 'number' | 'boolean' | 'null' | 'unknown' }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'list'; readonly item: ResultType }
  /** `rest` is of all further items; absent: there are none. */
  | { readonly kind: 'tuple'; readonly items: readonly ResultType[]; readonly rest?: ResultType }
  | { readonly kind: 'object'; readonly members: readonly Member[]; readonly isOpen: boolean }
  | { readonly kind: 'union'; readonly options: readonly ResultType[] };

interface Member {
  readonly key: string;
  readonly isOptional: boolean;
  readonly type: ResultType;
}

const misfit = Symbol('misfit');

/** The value with its texts replaced; `misfit` where it has another type. */
function fill(type: ResultType, value: unknown, text: string): unknown {
  switch (type.kind) {
    case 'string':
      return typeof value === 'string' ? (value === '' ? '' : text) : misfit;
    case 'number':
      return typeof value === 'number' || JSON.isRawJSON(value) ? 0 : misfit;
    case 'unknown':
      return null;
    case 'boolean':
    case 'null':
    case 'literal':
      return fits(type, value) ? value : misfit;
    case 'list': {
      if (!Array.isArray(value)) return misfit;
      // One is enough for the reason to be read, and their number says nothing.
      const items = value.slice(0, 1).map((item) => fill(type.item, item, text));
      if (type.item.kind === 'unknown') return [];
      return items.includes(misfit) ? misfit : items;
    }
    case 'tuple': {
      if (!Array.isArray(value) || value.length < type.items.length) return misfit;
      if (value.length > type.items.length && type.rest === undefined) return misfit;
      const items = type.items.map((item, index) => fill(item, value[index], text));
      return items.includes(misfit) ? misfit : items;
    }
    case 'object': {
      // What may hold anything has no form of its own.
      if (!isObject(value) || type.isOpen) return misfit;
      const members = type.members.flatMap(({ key, isOptional, type: own }): [string, unknown][] => {
        const filled = Object.hasOwn(value, key) && !isEncoded(key) ? fill(own, value[key], text) : misfit;
        return filled === misfit && isOptional ? [] : [[key, filled]];
      });
      return members.some(([, filled]) => filled === misfit) ? misfit : Object.fromEntries(members);
    }
    case 'union': {
      const filled = type.options.map((option) => fill(option, value, text));
      return filled.find((each) => each !== misfit) ?? misfit;
    }
  }
}

/** The least that the type asks for, with the text in the place of its texts. */
function blank(type: ResultType, text: string): unknown {
  switch (type.kind) {
    case 'string':
      return text;
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'null':
    case 'unknown':
      return null;
    case 'literal':
      return type.value;
    case 'list':
      return [];
    case 'tuple':
      return type.items.map((item) => blank(item, text));
    case 'object':
      return Object.fromEntries(
        type.members
          .filter(({ isOptional }) => !isOptional)
          .map(({ key, type: own }): [string, unknown] => [key, blank(own, text)]),
      );
    case 'union': {
      const option = type.options.find((each) => !holdsEncoded(each)) ?? type.options[0];
      return option === undefined ? null : blank(option, text);
    }
  }
}

/** Data that is decoded, and that a text in its place would break: of such a result, another form of the type is given. */
function isEncoded(key: string): boolean {
  return key === 'base64' || key === 'isImage';
}

function holdsEncoded(type: ResultType): boolean {
  return (
    type.kind === 'object' &&
    type.members.some(
      ({ key, isOptional, type: own }) => !isOptional && (isEncoded(key) || holdsEncoded(own)),
    )
  );
}

function fits(type: ResultType, value: unknown): boolean {
  switch (type.kind) {
    case 'string':
    case 'boolean':
      return typeof value === type.kind;
    case 'number':
      return typeof value === 'number' || JSON.isRawJSON(value);
    case 'null':
      return value === null;
    case 'unknown':
      return true;
    case 'literal':
      return value === type.value;
    case 'list':
      return Array.isArray(value) && value.every((item) => fits(type.item, item));
    case 'tuple':
      return (
        Array.isArray(value) &&
        value.length >= type.items.length &&
        type.items.every((item, index) => fits(item, value[index])) &&
        value.slice(type.items.length).every((item) => type.rest !== undefined && fits(type.rest, item))
      );
    case 'object':
      return (
        isObject(value) &&
        type.members.every(({ key, isOptional, type: own }) =>
          Object.hasOwn(value, key) ? fits(own, value[key]) : isOptional,
        )
      );
    case 'union':
      return type.options.some((option) => fits(option, value));
  }
}

/** Reads a type of `published.ts`: literals, lists, tuples, objects and unions of them. Throws TypeError. */
export function parseType(code: string): ResultType {
  const tokens = code.match(/"(?:[^"\\]|\\.)*"|\[\]|\.{3}|[\w$-]+|[{}[\]():;,|?]/g) ?? [];
  let at = 0;
  const take = (expected?: string): string => {
    const token = tokens[at];
    if (token === undefined || (expected !== undefined && token !== expected))
      throw new TypeError(`${expected ?? 'a type'} is missing in ${code.slice(0, 80)} at token ${at}`);
    at += 1;
    return token;
  };
  const skip = (token: string): boolean => {
    if (tokens[at] !== token) return false;
    at += 1;
    return true;
  };
  const union = (): ResultType => {
    skip('|');
    const options = [suffixed()];
    while (skip('|')) options.push(suffixed());
    const [only] = options;
    return options.length === 1 && only !== undefined ? only : { kind: 'union', options };
  };
  const suffixed = (): ResultType => {
    let type = single();
    while (skip('[]')) type = { kind: 'list', item: type };
    return type;
  };
  const single = (): ResultType => {
    const token = take();
    if (token === '(') {
      const inner = union();
      take(')');
      return inner;
    }
    if (token === '{') return object();
    if (token === '[') {
      const items: ResultType[] = [];
      let rest: ResultType | undefined;
      do {
        if (!skip('...')) items.push(union());
        else {
          const list = union();
          rest = list.kind === 'list' ? list.item : list;
        }
      } while (skip(','));
      take(']');
      return { kind: 'tuple', items, ...(rest !== undefined && { rest }) };
    }
    if (token === '[]') return { kind: 'tuple', items: [] };
    if (token.startsWith('"')) return { kind: 'literal', value: String(JSON.parse(token)) };
    if (token === 'true' || token === 'false') return { kind: 'literal', value: token === 'true' };
    if (/^-?\d/.test(token)) return { kind: 'literal', value: Number(token) };
    if (token === 'undefined') return { kind: 'null' };
    if (token === 'string' || token === 'number' || token === 'boolean' || token === 'null')
      return { kind: token };
    if (token === 'unknown') return { kind: 'unknown' };
    throw new TypeError(`the type ${token} is not known`);
  };
  const object = (): ResultType => {
    const members: Member[] = [];
    let isOpen = false;
    while (!skip('}')) {
      if (skip('[')) {
        for (const part of ['k', ':', 'string', ']', ':']) take(part);
        union();
        isOpen = true;
      } else {
        const name = take();
        const key = name.startsWith('"') ? String(JSON.parse(name)) : name;
        const isOptional = skip('?');
        take(':');
        members.push({ key, isOptional, type: union() });
      }
      skip(';');
    }
    return { kind: 'object', members, isOpen };
  };
  const type = union();
  if (at !== tokens.length) throw new TypeError(`there is more behind the type in ${code.slice(0, 80)}`);
  return type;
}

// Generated by build/claude-code.ts from @anthropic-ai/claude-code 2.1.332. Do not edit.

/** Every hook event of Claude Code. */
// biome-ignore format: one line for each event
export const publishedEvents: readonly string[] = [
  'ConfigChange',
  'CwdChanged',
  'DirectoryAdded',
  'Elicitation',
  'ElicitationResult',
  'FileChanged',
  'InstructionsLoaded',
  'MessageDisplay',
  'Notification',
  'PermissionDenied',
  'PermissionRequest',
  'PostCompact',
  'PostModelSwitch',
  'PostToolBatch',
  'PostToolUse',
  'PostToolUseFailure',
  'PreCompact',
  'PreModelSwitch',
  'PreSkillShellCommand',
  'PreToolUse',
  'SessionEnd',
  'SessionStart',
  'Setup',
  'Stop',
  'StopFailure',
  'SubagentStart',
  'SubagentStop',
  'TaskCompleted',
  'TaskCreated',
  'TeammateIdle',
  'UserPromptExpansion',
  'UserPromptSubmit',
  'WorktreeCreate',
  'WorktreeRemove',
];

/** The published type of each tool's result, in TypeScript without white space. */
// biome-ignore format: one line for each tool
export const resultTypes: Readonly<Record<string, string>> = {
  'Agent': '{agentId:string;agentType?:string;content:{type:"text";text:string;citations?:unknown[]|null;}[];resolvedModel?:string;modelsUsed?:string[];totalToolUseCount:number;totalDurationMs:number;totalTokens:number;usage:{input_tokens:number;output_tokens:number;cache_creation_input_tokens:number|null;cache_read_input_tokens:number|null;server_tool_use:{web_search_requests:number;web_fetch_requests:number;}|null;service_tier:string|null;cache_creation:{ephemeral_1h_input_tokens:number;ephemeral_5m_input_tokens:number;}|null;inference_geo?:string|null;speed?:string|null;iterations?:unknown;output_tokens_details?:{thinking_tokens?:number|null;}|null;fallback_credit?:unknown;};toolsUsed?:string[];toolStats?:{readCount:number;searchCount:number;bashCount:number;editFileCount:number;linesAdded:number;linesRemoved:number;otherToolCount:number;frameCount?:number;};status:"completed";prompt:string;worktreePath?:string;worktreeBranch?:string;}|{status:"async_launched";isAsync?:true;agentId:string;description:string;resolvedModel?:string;modelsUsed?:string[];prompt:string;outputFile:string;canReadOutputFile?:boolean;}|{status:"remote_launched";taskId:string;sessionUrl:string;description:string;prompt:string;outputFile:string;}',
  'Artifact': '{url:string;path:string;artifact_id?:string;title?:string;version?:string;capabilities?:unknown;stored?:{contract:string;preferredContract?:string;capabilities?:{[k:string]:unknown;};carried?:boolean;read?:string;};warnings?:string[];publishesRemaining?:number;publishesResetAt?:number;contract?:string;updated?:boolean;owned?:boolean;icon?:string;faviconSent?:true;iconDropped?:true;audience?:string;folder_audience?:"others"|"unknown";seq?:number;unchanged?:true;liveSubscription?:string;pinned?:boolean;}|{artifacts:{title:string;url:string;favicon?:string;updatedAt?:string;rel?:"mine"|"shared";external?:true;role?:"editor"|"commenter"|"reader"|"viewer";outsidersMayHaveWritten?:true;listedKind?:string;pinned?:boolean;}[];truncated?:boolean;total?:number;total_at_least?:true;next_page_token?:string;pins_enabled?:boolean;scope?:"shared"|"all";external_listed?:true;}|{read:{url:string;bytes:number;code:number;codeText:string;result:string;durationMs:number;title?:string;};owned?:boolean;artifactRead?:{slug:string;ver?:string;seeded?:false;};}|{watch:{url:string;watching:boolean;outcome:string;reason?:string;durable_skip_reason?:string;task_id?:string;since?:number;token_expires_at?:number;rail?:string;trigger_id?:string;durable_since?:string;status?:number;detail?:string;note?:string;events?:string[];};}|{unwatch:{url:string;was_watching:boolean;};}|{watches:(|{url:string;task_id:string;since:number;explicit:boolean;connected:boolean;connecting?:boolean;token_expires_at:number;armed_via?:string;}|{url:string;rail:"durable_wake";trigger_id:string;since:string;events?:string[];restored?:boolean;}|{url:string;rail:"live_stopped";since?:number;explicit?:boolean;armed_via?:string;stop_kind:string;})[];filter_url?:string;arms?:{url:string;rail?:string;state:string;reconnect?:boolean;failures?:number;max_failures?:number;next_in_s?:number;last_failure?:string;reason?:string;detail?:string;server_message?:string;at?:number;}[];}|{written?:{url:string;};owned?:boolean;asset_upload:{id:string;url:string;size_bytes:number;content_type:string;sha256?:string;file_name:string;};}|{written?:{url:string;};owned?:boolean;asset_uploads:{url:string;results:[(|{file_path:string;status:"uploaded";id:string;url:string;size_bytes:number;content_type:string;sha256?:string;file_name:string;}|{file_path:string;status:"failed"|"not_attempted";reason:string;message:string;may_be_stored?:true;}), ...(|{file_path:string;status:"uploaded";id:string;url:string;size_bytes:number;content_type:string;sha256?:string;file_name:string;}|{file_path:string;status:"failed"|"not_attempted";reason:string;message:string;may_be_stored?:true;})[]];};}|{asset_list:{url:string;assets:{id:string;url:string;content_type:string;size_bytes:number;sha256?:string;created_at:string;}[];usage:{files:number;bytes:number;max_files:number;max_bytes:number;};next?:string;cowritten?:true;outside_writer?:true;};}|{asset_read:{id:string;path:string;size_bytes:number;content_type:string;sha256:string;cowritten?:true;outside_writer?:true;public_read?:true;foreign?:true;};}|{written?:{url:string;};owned?:boolean;asset_delete:{id:string;deleted:boolean;};}|{pin:{action:"pin"|"unpin";url:string;pinned:boolean;title?:string;};}',
  'AskUserQuestion': '{questions:{question:string;header:string;options:|[{label:string;description:string;preview?:string;},{label:string;description:string;preview?:string;}]|[{label:string;description:string;preview?:string;},{label:string;description:string;preview?:string;},{label:string;description:string;preview?:string;}]|[{label:string;description:string;preview?:string;},{label:string;description:string;preview?:string;},{label:string;description:string;preview?:string;},{label:string;description:string;preview?:string;}];multiSelect:boolean;}[];answers:{[k:string]:string;};response?:string;annotations?:{[k:string]:{preview?:string;notes?:string;unanswered?:"skipped"|"replied_in_chat"|"dismissed";};};afkTimeoutMs?:number;}',
  'Bash': '{stdout:string;stderr:string;rawOutputPath?:string;interrupted:boolean;isImage?:boolean;backgroundTaskId?:string;backgroundedByUser?:boolean;timedOutAfterMs?:number;backgroundCwdHint?:string;backgroundEndsWithFinalResponse?:true;backgroundWakesOwner?:true;dangerouslyDisableSandbox?:boolean;returnCodeInterpretation?:string;noOutputExpected?:boolean;structuredContent?:unknown[];persistedOutputPath?:string;persistedOutputSize?:number;staleReadFileStateHint?:string;ghRateLimitHint?:string;gitOperation?:{commit?:{sha:string;kind:"committed"|"amended"|"cherry-picked";branch?:string;};push?:{branch:string;};branch?:{ref:string;action:"merged"|"rebased";};pr?:{number:number;url?:string;action:|"created"|"edited"|"merged"|"commented"|"closed"|"reopened"|"ready"|"draft"|"auto-merge-enabled"|"auto-merge-disabled";};};}',
  'ClaudeDesign': '{operation:string;content:{[k:string]:unknown;}[];isError?:boolean;}',
  'CronCreate': '{id:string;humanSchedule:string;recurring:boolean;durable?:boolean;nextFireAt?:number;maxAgeMs?:number;otherOneShots?:{id:string;humanSchedule:string;prompt:string;}[];}',
  'CronDelete': '{id:string;endedLoopWakeup?:true;}',
  'CronList': '{jobs:{id:string;cron:string;humanSchedule:string;prompt:string;recurring?:boolean;durable?:boolean;nextFireAt?:number;}[];}',
  'Edit': '{filePath:string;oldString:string;newString:string;originalFile:string|null;structuredPatch:{oldStart:number;oldLines:number;newStart:number;newLines:number;lines:string[];}[];userModified:boolean;replaceAll:boolean;gitDiff?:{filename:string;status:"modified"|"added";additions:number;deletions:number;changes:number;patch:string;repository?:string|null;};staged?:boolean;}',
  'EnterPlanMode': '{message:string;}',
  'EnterWorktree': '{worktreePath:string;worktreeBranch?:string;message:string;}',
  'ExitPlanMode': '{plan:string|null;isAgent:boolean;filePath?:string;hasTaskTool?:boolean;planWasEdited?:boolean;awaitingLeaderApproval?:boolean;requestId?:string;}',
  'ExitWorktree': '{action:"keep"|"remove";originalCwd:string;worktreePath:string;worktreeBranch?:string;tmuxSessionName?:string;discardedFiles?:number;discardedCommits?:number;message:string;}',
  'Glob': '{durationMs:number;numFiles:number;filenames:string[];truncated:boolean;totalMatches?:number;countIsComplete?:boolean;timedOut?:boolean;}',
  'Grep': '{mode?:"content"|"files_with_matches"|"count";numFiles:number;filenames:string[];content?:string;numLines?:number;numMatches?:number;totalFiles?:number;totalLines?:number;appliedLimit?:number;appliedOffset?:number;timedOut?:boolean;}',
  'ListMcpResourcesTool': '{uri:string;name:string;mimeType?:string;description?:string;server:string;}[]',
  'Monitor': '{taskId:string;timeoutMs:number;persistent?:boolean;keptInSandboxByCheck?:boolean;}',
  'NotebookEdit': '{new_source:string;old_source?:string;cell_id?:string;cell_type:"code"|"markdown";language:string;edit_mode:string;error?:string;notebook_path:string;original_file:string;updated_file:string;}',
  'OfferChromeSetup': '{outcome:"connected"|"not_now"|"no_attempt_yet";}',
  'Projects': '{method:"project_info";notice?:string;local_file?:string;name:string;description:string;instructions:string;docs:{path:string;created_at:string|null;}[];files?:{path:string;file_kind:string;created_at:string|null;}[];sync_sources?:{type:string|null;config:{[k:string]:unknown;};}[];knowledge:{knowledge_size:number;max_knowledge_size:number;};}|{method:"project_read";notice?:string;path:string;file_kind?:string;content?:string;local_file?:string;created_at:string|null;}|{method:"project_search";notice?:string;rag:boolean;hits?:{name?:string;doc_uuid?:string;text?:string;image_attached?:boolean;page?:number;}[];docs?:string[];}|{method:"project_write";notice?:string;path:string;doc_uuid:string;replaced:boolean;present_to_user?:boolean;local_path?:string;}|{method:"project_delete";notice?:string;path:string;deleted:boolean;}|{method:"project_memory_list";notice?:string;files:{path:string;size_bytes:number;updated_at:string|null;truncated:boolean;}[];truncated:boolean;}|{method:"project_memory_read";notice?:string;path:string;content?:string;local_file?:string;size_bytes:number;updated_at:string|null;truncated:boolean;}',
  'ProposeSkills': '{proposalCount:number;}',
  'PushNotification': '{message:string;pushSent?:boolean;localSent?:boolean;disabledReason?:"config_off"|"user_present"|"no_transport";sentAt?:string;}',
  'Read': '{type:"text";file:{filePath:string;content:string;numLines:number;startLine:number;totalLines:number;truncatedByTokenCap?:boolean;};artifactRead?:{slug:string;ver:string;};}|{type:"image";file:{base64:string;type:"image/jpeg"|"image/png"|"image/gif"|"image/webp";originalSize:number;dimensions?:{originalWidth?:number;originalHeight?:number;displayWidth?:number;displayHeight?:number;};};}|{type:"notebook";file:{filePath:string;cells:unknown[];};}|{type:"pdf";file:{filePath:string;base64:string;originalSize:number;};}|{type:"parts";file:{filePath:string;originalSize:number;count:number;outputDir:string;};firstPage?:number;pages?:{base64:string;mediaType:"image/jpeg"|"image/png"|"image/gif"|"image/webp";error?:string;}[];}',
  'ReadMcpResourceDirTool': '{resources:{uri:string;name:string;mimeType?:string;}[];error?:string;}',
  'ReadMcpResourceTool': '{contents:{uri:string;mimeType?:string;text?:string;blobSavedTo?:string;}[];error?:string;}',
  'ReadNotifications': '{notifications:{notification_id:string;origin:string;queued_at:string;content:string;arrived_at?:string;}[];remaining:number;read_at?:string;}',
  'RefreshMcpTools': '{server:string;status:"refreshed"|"error"|"not_connected";toolCount?:number;added?:string[];removed?:string[];error?:string;}[]',
  'RemoteTrigger': '{status:number;json:string;summary?:string;}',
  'ReportFindings': '{count:number;level?:"low"|"medium"|"high"|"xhigh"|"max";findings:{file:string;line?:number;summary:string;short_summary?:string;failure_scenario:string;category?:string;severity?:"important"|"pre_existing"|"nit";verdict?:"CONFIRMED"|"PLAUSIBLE";outcome?:"fixed"|"skipped"|"no_change_needed";}[];}',
  'ScheduleWakeup': '{scheduledFor:number;clampedDelaySeconds:number;wasClamped:boolean;stopped?:boolean;cancelledWakeups?:number;}',
  'SendFeedback': '{success:boolean;message:string;}',
  'SetGoal': '{condition:string;askUser:boolean;}',
  'ShowOnboardingRolePicker': '{role?:string;dismissed?:boolean;}',
  'TaskCreate': '{task:{id:string;subject:string;description?:string;};}',
  'TaskGet': '{task:{id:string;subject:string;description:string;status:"pending"|"in_progress"|"completed";blocks:string[];blockedBy:string[];}|null;}',
  'TaskList': '{tasks:{id:string;subject:string;status:"pending"|"in_progress"|"completed";owner?:string;blockedBy:string[];}[];}',
  'TaskStop': '{message:string;task_id:string;task_type:string;command?:string;}',
  'TaskUpdate': '{success:boolean;taskId:string;updatedFields:string[];error?:string;statusChange?:{from:string;to:string;};}',
  'TodoWrite': '{oldTodos:{content:string;status:"pending"|"in_progress"|"completed";activeForm:string;}[];newTodos:{content:string;status:"pending"|"in_progress"|"completed";activeForm:string;}[];}',
  'WebFetch': '{bytes:number;code:number;codeText:string;result:string;durationMs:number;url:string;artifactRead?:{slug:string;ver?:string;seeded?:false;};}',
  'WebSearch': '{query:string;results:(|{tool_use_id:string;content:{title:string;url:string;snippet?:string;}[];}|string)[];durationSeconds:number;searchCount?:number;}',
  'Workflow': '{status:"async_launched"|"remote_launched";taskId:string;taskType?:"local_workflow"|"remote_agent";workflowName?:string;runId?:string;summary?:string;transcriptDir?:string;scriptPath?:string;sessionUrl?:string;warning?:string;error?:string;}',
  'Write': '{type:"create"|"update";filePath:string;content:string;structuredPatch:{oldStart:number;oldLines:number;newStart:number;newLines:number;lines:string[];}[];originalFile:string|null;gitDiff?:{filename:string;status:"modified"|"added";additions:number;deletions:number;changes:number;patch:string;repository?:string|null;};userModified?:boolean;staged?:boolean;}',
  'mcp__*': 'string|{type:string;[k:string]:unknown;}[]|{[k:string]:unknown;}',
};
