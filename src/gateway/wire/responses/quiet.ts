import type { Place } from '../place.ts';
import { isPlainId } from '../plain-id.ts';

/**
 * Whether a member of an object of the API tells nothing that is worth judging: figures, flags and words of the API where
 * it has them, ids that are plain, and lists and objects of these.
 */
export function isQuiet(key: string, place: Place): boolean {
  if (!knownKeys.has(key)) return place.kind === 'number' && /^[a-z_]{1,48}_tokens$/.test(key);
  switch (place.kind) {
    case 'string':
      return isQuietText(key, place.text ?? '');
    case 'number':
      return figureKeys.has(key);
    case 'array':
      return nestKeys.has(key) && place.items.every((item) => isQuiet(key, item));
    case 'object':
      return nestKeys.has(key) && [...place.members].every(([name, member]) => isQuiet(name, member));
    default:
      return true;
  }
}

function isQuietText(key: string, text: string): boolean {
  if (text === '') return true;
  return wordKeys.has(key) ? words.has(text) : idKeys.has(key) && isPlainId(text);
}

const idKeys: ReadonlySet<string> = new Set([
  'id',
  'call_id',
  'item_id',
  'approval_request_id',
  'caller_id',
  'container_id',
  'file_id',
  'created_by',
  'fingerprint',
  'namespace',
  'server_label',
  'obfuscation',
]);

const wordKeys: ReadonlySet<string> = new Set([
  'type',
  'role',
  'status',
  'phase',
  'detail',
  'execution',
  'mode',
  'ttl',
  'object',
  'reason',
  'service_tier',
  'truncation',
  'effort',
  'summary',
  'generate_summary',
  'verbosity',
  'prompt_cache_retention',
  'include',
  'tool_choice',
  'output_format',
  'quality',
  'size',
  'background',
  'action',
  'moderation',
  'approve',
  'async',
]);

const figureKeys: ReadonlySet<string> = new Set([
  'created_at',
  'completed_at',
  'sequence_number',
  'output_index',
  'content_index',
  'summary_index',
  'annotation_index',
  'command_index',
  'partial_image_index',
  'temperature',
  'top_p',
  'top_logprobs',
  'max_output_tokens',
  'max_tool_calls',
  'max_output_length',
  'exit_code',
  'score',
  'frequency_penalty',
  'presence_penalty',
]);

const nestKeys: ReadonlySet<string> = new Set([
  'caller',
  'usage',
  'input_tokens_details',
  'output_tokens_details',
  'incomplete_details',
  'outcome',
  'reasoning',
  'text',
  'format',
  'include',
  'stream_options',
  'prompt_cache_breakpoint',
  'annotations',
  'logprobs',
  'content',
  'summary',
  'output',
  'outputs',
  'results',
  'tools',
  'metadata',
  'pending_safety_checks',
  'acknowledged_safety_checks',
]);

/** Flags and members that are null where they do not apply. */
const flagKeys = [
  'store',
  'stream',
  'parallel_tool_calls',
  'include_obfuscation',
  'error',
  'instructions',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'previous_response_id',
  'conversation',
  'prompt',
  'encrypted_content',
  'result',
  'code',
  'name',
  'billing',
  'strict',
];

const knownKeys: ReadonlySet<string> = new Set([
  ...idKeys,
  ...wordKeys,
  ...figureKeys,
  ...nestKeys,
  ...flagKeys,
]);

/** The words that the API gives these members; another word is shown to hooks. */
const words: ReadonlySet<string> = new Set(
  `message reasoning function_call function_call_output custom_tool_call custom_tool_call_output input_text output_text
  refusal summary_text reasoning_text text input_image input_file input_audio output_audio response direct program
  exit timeout user assistant system developer tool unknown in_progress completed incomplete searching calling failed
  interpreting generating queued cancelled commentary final_answer auto low high original medium minimal none xhigh max
  standard concise detailed disabled default flex priority scale fast required server client explicit implicit 30m 12h
  24h in-memory in_memory max_output_tokens max_messages content_filter steered json_object json_schema png webp jpeg gif
  svg transparent opaque generate edit web_search_call file_search_call code_interpreter_call image_generation_call
  computer_call computer_call_output local_shell_call local_shell_call_output shell_call shell_call_output
  apply_patch_call apply_patch_call_output mcp_call mcp_list_tools mcp_approval_request mcp_approval_response
  tool_search_call tool_search_output additional_tools configuration_update compaction compaction_summary
  compaction_trigger context_compaction program_output url_citation file_citation container_file_citation file_path
  file_search_call.results web_search_call.results web_search_call.action.sources message.input_image.image_url
  computer_call_output.output.image_url code_interpreter_call.outputs reasoning.encrypted_content
  message.output_text.logprobs logs image`
    .split(/\s+/)
    .filter((word) => word !== ''),
);
