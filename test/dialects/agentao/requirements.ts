import { rowsOf, section } from '../../requirements/requirement.ts';

export const declaring = section(
  'agentao.md §1',
  rowsOf`
    AO-1-01 | none | Only files and plugin folders that spec.imports names are read.
    AO-1-02 | none | A plugin folder is read by its plugin.json: \`hooks\` is a path, an object, or a list of both.
    AO-1-03 | none | A plugin folder without plugin.json has its rules in hooks/hooks.json.
    AO-1-04 | none | An imported file that is missing is a config error.
    AO-1-05 | oneshot | An entry of spec.hooks may declare a command rule, or a prompt rule without a process.
  `,
  'agentao',
);

export const file = section(
  'agentao.md §2',
  rowsOf`
    AO-2-01 | none | The wrapper \`hooks\` may be left out, and a single rule may stand in place of the list.
    AO-2-02 | none | A timeout is read as whole seconds; anything else, 0 and less is 60 with a warning.
    AO-2-03 | none | An entry with a \`hooks\` array is a Claude group, one with \`type\` and without \`hooks\` a rule.
    AO-2-04 | none | An entry with neither or both is a config error that shows the two forms.
    AO-2-05 | none | Without \`dialect\` in the import a file may hold both forms; with it the other form is an error.
    AO-2-06 | none | A rejected rule is one warning in Agentao’s words, and the rest of the file is kept.
    AO-2-07 | none | A file that cannot be read or parsed is an error.
    AO-2-08 | none | With on_failure: deny a skipped PreToolUse or UserPromptSubmit rule is an error.
    AO-2-09 | none | Other top-level keys beside \`hooks\` make it a Claude settings file.
  `,
  'agentao',
);

export const events = section(
  'agentao.md §3',
  rowsOf`
    AO-3-01 | none | The pipeline fires seven of the eight events, each at its own moment.
    AO-3-02 | none | A host fires any of the eight with a payload of its own.
    AO-3-03 | none | A host’s payload with a missing or wrong member is refused by that member’s name.
    AO-3-04 | oneshot | SessionStart is awaited, and the context it gives joins the first model call.
    AO-3-06 | none | A result of a call that failed is PostToolUseFailure, of every other PostToolUse.
    AO-3-07 | none | Stop is fired for a final answer and at the round limit.
    AO-3-08 | oneshot | PreToolUse is not fired for a call that is denied already.
    AO-3-09 | oneshot | PostToolUse is not fired for a call that was denied.
    AO-3-10 | oneshot | Stop is not fired after a provider error.
    AO-3-11 | none | Only UserPromptSubmit has prompt rules.
    AO-3-12 | none | Nothing fires for a call of a tool that does not exist, unless a hook answers it.
    AO-3-13 | oneshot | Rules guard every path: library, command line and pipeline.
  `,
  'agentao',
);

export const matchers = section(
  'agentao.md §4',
  rowsOf`
    AO-4-01 | none | A rule without a matcher, or with null, hears of every occurrence.
    AO-4-02 | none | A tool is matched by \`tool_name\` and by \`toolName\`; of two keys both must match.
    AO-4-03 | none | A matcher may use the declared name, an alias, or either name of an alias pair.
    AO-4-04 | none | A pattern is a glob of the whole name with \`*\` and \`?\`; a bar makes no list.
    AO-4-05 | none | A pattern between ^ and $ is a JavaScript regular expression; a bad one is a config error.
    AO-4-06 | none | Names are compared with regard to case.
    AO-4-07 | none | \`trigger\` matches as a glob or as an expression for the whole word; a bad one is compared as text.
    AO-4-08 | none | A matcher value that is not a string matches nothing, with a warning at load.
    AO-4-09 | none | Another key, a misspelt one too, or a matcher on an event without one, is ignored with a warning at load.
    AO-4-10 | none | Payloads carry Claude’s name of the tool, and its arguments untranslated.
    AO-4-11 | none | A matcher value of null is as if its key were absent.
    AO-4-12 | none | With more than one star \`[…]\` is a class; around one star the ends of a pattern may overlap.
    AO-4-13 | none | On SessionStart and SessionEnd toolName is compared with the empty string.
  `,
  'agentao',
);

export const stdin = section(
  'agentao.md §5',
  rowsOf`
    AO-5-01 | oneshot | Six events have the envelope of \`event\` and \`data\` with Agentao’s members.
    AO-5-02 | oneshot | Beside the envelope stand the flat members that a Claude script looks for.
    AO-5-03 | none | The error in \`data\` is its first 200 characters; the flat one is whole.
    AO-5-04 | oneshot | Stop is flat: what the answer was, why the turn ends, and whether a hook made it go on.
    AO-5-05 | none | Stop carries at_max_iter.
    AO-5-06 | none | PreCompact is flat, and its trigger tells the truth of a compaction by hand.
    AO-5-07 | none | In the flat tool_input of Read, Write and Edit a \`path\` is repeated as file_path.
    AO-5-08 | none | transcript_path is the run’s file; permission_mode is workspace-write.
    AO-5-09 | none | Arguments keep every digit on stdin.
    AO-5-10 | none | Stdin is the text of Python’s json.dumps, and nothing behind it.
    AO-5-11 | none | last_assistant_message has Agentao’s words where the model gave no text.
  `,
  'agentao',
);

export const execution = section(
  'agentao.md §6',
  rowsOf`
    AO-6-01 | oneshot | A command runs by /bin/sh -c in the session’s folder, with JSON on stdin.
    AO-6-02 | oneshot | A rule sees the closed environment and what \`env\` names.
    AO-6-04 | none | Rules run one after another in their order, each given the same, none left out as a copy.
    AO-6-05 | oneshot | All rules of an event are one link of the chain, at the place of the first.
    AO-6-06 | oneshot | /dev/stdin can be opened by a rule.
    AO-6-07 | none | A prompt rule is one context, with {userMessage} replaced and $ARGUMENTS left.
    AO-6-08 | oneshot | Bytes of stdout that are no UTF-8 are replaced.
  `,
  'agentao',
);

export const answers = section(
  'agentao.md §7',
  rowsOf`
    AO-7-01 | oneshot | A blocking error is read in all of its spellings.
    AO-7-02 | oneshot | A blocking error of null is absent; any other value denies, an empty one with a stock text.
    AO-7-03 | oneshot | UserPromptSubmit: a blocking error denies with the marker [Blocked by hook].
    AO-7-04 | oneshot | UserPromptSubmit: preventContinuation denies with the marker [Hook stopped].
    AO-7-05 | oneshot | UserPromptSubmit: additionalContext, a string or a list, is context in order.
    AO-7-06 | oneshot | UserPromptSubmit: a deny or stop comes before contexts, which are recorded only.
    AO-7-07 | oneshot | UserPromptSubmit: Claude’s block denies, its continue: false stops, its context counts.
    AO-7-08 | oneshot | UserPromptSubmit: text, an array or a number that denies nothing is one context, whatever the exit code.
    AO-7-09 | oneshot | UserPromptSubmit: a bad exit without output passes as agentao.exit_nonzero, exit 2 too.
    AO-7-10 | oneshot | PreToolUse: deny, ask and allow of permissionDecision, with the first reason of three places.
    AO-7-11 | oneshot | PreToolUse: defer asks; any other word denies.
    AO-7-12 | oneshot | PreToolUse: a blocking error denies with the marker [Blocked by hook].
    AO-7-13 | oneshot | PreToolUse: decision: block denies, continue: false aborts, updatedInput modifies.
    AO-7-14 | oneshot | PreToolUse: additionalContext of both places stands beside the result.
    AO-7-15 | oneshot | PreToolUse: text is recorded as context and not injected.
    AO-7-16 | oneshot | PreToolUse: a bad exit without such JSON passes as agentao.exit_nonzero.
    AO-7-17 | none | PreToolUse: deny ends the loop, the first ask holds unless a deny follows, nothing loosens.
    AO-7-18 | oneshot | PreToolUse: stdout is read whatever the exit code.
    AO-7-19 | oneshot | Stop: exit 2 forces with stderr or a stock text, and its JSON is not read.
    AO-7-20 | oneshot | Stop: continue: false suppresses every force of the answer.
    AO-7-21 | oneshot | Stop: decision: block with a reason forces; without one it warns and the turn ends.
    AO-7-22 | oneshot | Stop: force_continue with follow_up_message forces, in both spellings.
    AO-7-23 | oneshot | Stop: preventContinuation forces, with stopReason or a stock text.
    AO-7-24 | oneshot | Stop: stopReason, suppressOutput and systemMessage count in both spellings; the last is a context.
    AO-7-25 | oneshot | Stop: additionalContext of both places and text are contexts, and the turn ends.
    AO-7-26 | oneshot | Stop: a blocking error denies with its own marker, even beside continue: false.
    AO-7-27 | oneshot | Stop: a bad exit without output passes as agentao.exit_nonzero.
    AO-7-28 | none | Stop: the first blocking error or force ends the loop.
    AO-7-29 | none | UserPromptSubmit: the first block or stop ends the loop.
    AO-7-30 | oneshot | SessionEnd and PreCompact are told: nothing that is answered there blocks anything.
    AO-7-31 | oneshot | SessionStart, PostToolUse, PostToolUseFailure: additionalContext of both places counts.
    AO-7-32 | oneshot | A blocking error withholds the result at PostToolUse, and aborts at PostToolUseFailure.
    AO-7-33 | oneshot | preventContinuation or continue: false aborts the turn at PostToolUse and PostToolUseFailure.
    AO-7-34 | oneshot | Text of those three is logged.
    AO-7-35 | oneshot | A kept rule warns and writes metadata.failed_open, for timeouts and failed starts too.
    AO-7-36 | oneshot | on_failure: deny closes all three rules at the four points that can deny.
    AO-7-37 | oneshot | Any other failure denies where there is something to deny.
    AO-7-38 | oneshot | An unknown verdict denies.
    AO-7-39 | oneshot | Claude’s updatedToolOutput replaces the result; one of the wrong type denies.
    AO-7-40 | oneshot | An attachment record is read as what it says.
    AO-7-41 | oneshot | A denial in a known spelling counts among other lines, and as an attachment record in a list.
    AO-7-42 | oneshot | A permission decision where none is read is warned of, and has no effect.
    AO-7-43 | oneshot | NaN and the infinities are read as Python reads them; a byte order mark is not.
    AO-7-44 | oneshot | SessionStart: nothing that a rule says or does stops the turn.
    AO-7-45 | oneshot | A word that stands twice, in whatever letter case, denies wherever it is read.
    AO-7-46 | oneshot | Stdout in UTF-16 with its mark is read.
    AO-7-47 | oneshot | Line ends of stdout and stderr become LF.
    AO-7-48 | oneshot | What begins as a JSON object and is none passes as agentao.bad_json, which on_failure: deny closes.
    AO-7-49 | oneshot | Stop: an empty reason is the stock text; preventContinuation with stopReason beats decision.
  `,
  'agentao',
);

export const results = section(
  'agentao.md §8',
  rowsOf`
    AO-8-01 | none | metadata.agentao of UserPromptSubmit is a UserPromptSubmitResult.
    AO-8-02 | none | metadata.agentao of Stop is a StopHookResult.
    AO-8-03 | none | metadata.agentao of PreToolUse is a PreToolUseHookResult.
    AO-8-04 | none | A record names its type, payload, rule, event, uuid and time.
    AO-8-05 | none | There are four types of record; exit 2 on Stop is hook_stopped_continuation via exit2.
    AO-8-06 | none | A context of UserPromptSubmit reaches the model in its own tag.
    AO-8-07 | none | A block at UserPromptSubmit has its marker in metadata.replacement, and no context.
    AO-8-08 | none | A deny at PreToolUse shows the model its reason, and has the marker in metadata.replacement.
    AO-8-09 | none | A forced turn goes on with a reminder before the text.
    AO-8-10 | none | stop_hook_active is true after a force.
    AO-8-11 | none | At the cap a force has no effect, and the turn ends with its answer.
    AO-8-12 | oneshot | A force at the iteration limit makes exactly one more round.
    AO-8-13 | none | Contexts of Stop stand behind the answer at final_response only, unless suppress_output.
    AO-8-14 | none | On Stop a blocking error beats a force, which beats contexts.
    AO-8-15 | oneshot | A block at UserPromptSubmit makes the run denied without a model call.
    AO-8-16 | oneshot | The answer is kept as a message before a forced turn.
    AO-8-17 | oneshot | An ask leaves the call pending.
    AO-8-18 | none | A force that the round limit drops is told as dropped, with a warning.
  `,
  'agentao',
);

export const fired = section(
  'agentao.md §9',
  rowsOf`
    AO-9-01 | none | PLUGIN_HOOK_FIRED is told once for each round, and not when no rule was selected.
    AO-9-02 | none | matched_rule_count counts rules selected, not rules run.
    AO-9-03 | none | Outcome words are the guide’s; \`effect\` has the finer word.
    AO-9-04 | none | Each event has its own data; a tool has Agentao’s name there.
    AO-9-05 | none | All eight events are told, and stdout is no part of any.
  `,
  'agentao',
);
