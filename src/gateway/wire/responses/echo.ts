import type { Place } from '../place.ts';

/** The members of a response that repeat what the request asked for. */
const echoedKeys: ReadonlySet<string> = new Set([
  'instructions',
  'tools',
  'tool_choice',
  'metadata',
  'text',
  'reasoning',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'previous_response_id',
  'conversation',
  'prompt',
  'truncation',
]);

/**
 * Whether a member of a response repeats that of the request, with nothing but words of the API added: hooks have let
 * it pass already. APIs fill in their defaults, so the two need not be equal.
 */
export function isEchoed(key: string, place: Place, sent: Place | undefined): boolean {
  const asked = echoedKeys.has(key) ? sent?.at(key) : undefined;
  if (asked === undefined) return false;
  if (place.source.slice(place.start, place.end) === asked.source.slice(asked.start, asked.end)) return true;
  const known = new Set<string>(filledIn);
  collectTexts(asked, known);
  return repeats(place, known);
}

function repeats(place: Place, known: ReadonlySet<string>): boolean {
  if (place.kind === 'string') return known.has(place.text ?? '');
  if (place.kind === 'array') return place.items.every((item) => repeats(item, known));
  return [...place.members].every(([name, member]) => known.has(name) && repeats(member, known));
}

/** Texts and names of a value. */
function collectTexts(place: Place, texts: Set<string>): void {
  if (place.kind === 'string') texts.add(place.text ?? '');
  for (const item of place.items) collectTexts(item, texts);
  for (const [name, member] of place.members) {
    texts.add(name);
    collectTexts(member, texts);
  }
}

/** The names of members that APIs fill in where a request leaves them out, and the words that they give them. */
const filledIn: readonly string[] =
  `type name description strict parameters output_schema format allowed_callers
  defer_loading async tools filters user_location search_context_size search_content_types external_web_access
  return_token_budget allowed_domains blocked_domains country city region timezone vector_store_ids max_num_results
  ranking_options ranker score_threshold hybrid_search embedding_weight text_weight server_label server_url
  server_description allowed_tools require_approval connector_id headers authorization container file_ids memory_limit
  network_policy environment skills background model moderation output_compression output_format partial_images quality
  size input_fidelity input_image_mask action display_width display_height execution effort summary generate_summary
  context mode verbosity schema syntax definition id version variables ttl comparison_response_id
  auto text json_schema json_object low medium high minimal none xhigh max disabled required function custom grammar
  default always never approximate direct programmatic concise detailed implicit explicit in_memory 24h 30m 12h
  server client opaque png`.split(/\s+/);
