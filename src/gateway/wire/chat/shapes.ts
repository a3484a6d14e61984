import { openAiUsage } from '../bodies.ts';
import { all, type ByType, type Members, type Shape, type ShowCall, words } from '../shape.ts';

// The bodies of `POST /v1/chat/completions`, from the types of the openai package 7.57 and compatible servers.

const text: Shape = { show: 'text', text: 'text' };
const refusalPart: Shape = { show: 'text', as: 'refusal', text: 'refusal' };
const file = { show: 'media', url: ['url'], bytes: ['data', 'file_data'], reference: 'file_id' } as const;
const named = { ...file, format: 'format', filename: 'filename' };
const picture: Shape = {
  ...named,
  media: 'image',
  in: 'image_url',
  isOf: 'image/*',
  held: { detail: words('auto', 'low', 'high', 'original') },
};

const content: ByType = {
  string: { show: 'text' },
  array: {
    items: {
      kinds: {
        text,
        refusal: refusalPart,
        image_url: picture,
        input_audio: { ...named, media: 'audio', in: 'input_audio', isOf: 'audio/*' },
        file: { ...named, media: 'file', in: 'file', isOf: 'application/octet-stream' },
        video_url: { ...named, media: 'video', in: 'video_url', isOf: 'video/*' },
      },
    },
    newText: { type: 'text' },
    orString: true,
  },
};

const call: Omit<ShowCall, 'in' | 'args'> = { show: 'call', id: 'id', name: 'name', of: { index: 'number' } };

const assistant: Members = {
  content,
  tool_calls: {
    array: {
      items: {
        kinds: {
          function: { ...call, in: 'function', args: 'arguments' },
          custom: { ...call, in: 'custom', args: 'input' },
        },
        // Some servers omit `type`.
        implied: [['function', 'function']],
      },
    },
  },
  function_call: { show: 'call', id: [], name: 'name', args: 'arguments' },
  reasoning_content: { show: 'reasoning', isTwin: true },
  reasoning: { show: 'reasoning', isTwin: true },
  // Copies of the reasoning, some of them encrypted.
  reasoning_details: { emptied: 'absent' },
  thinking_blocks: { emptied: 'absent' },
  refusal: { show: 'refusal' },
  annotations: {
    items: {
      kinds: {
        url_citation: {
          show: 'citation',
          in: 'url_citation',
          type: 'url',
          tell: ['url', 'title'],
          held: all('number', 'start_index', 'end_index'),
        },
      },
      unknown: 'other',
    },
  },
};

const said: Shape = { members: { content } };

const message: Shape = {
  kinds: {
    system: said,
    developer: said,
    user: said,
    assistant: { members: { ...assistant, audio: { reference: 'audio' } } },
    tool: { members: { content, tool_call_id: { link: 'id' }, name: { link: 'name' } } },
    function: { members: { content, tool_call_id: { link: 'id' }, name: { link: 'name' } } },
  },
  by: 'role',
};

export const requestShape: Shape = {
  members: {
    model: 'model',
    messages: { each: message },
    stream: 'number',
    stream_options: { members: all('number', 'include_usage', 'include_obfuscation') },
    ...all(
      'number',
      'frequency_penalty',
      'logprobs',
      'max_completion_tokens',
      'max_tokens',
      'min_p',
      'n',
      'parallel_tool_calls',
      'presence_penalty',
      'repetition_penalty',
      'seed',
      'store',
      'temperature',
      'top_k',
      'top_logprobs',
      'top_p',
    ),
  },
};

export const finishWords: Readonly<Record<string, string>> = {
  stop: 'stop',
  length: 'max_output_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'safety',
  error: 'error',
};

const finish: Shape = { show: 'finish', words: finishWords };

const head: Members = {
  id: 'id',
  created: 'number',
  model: 'id',
  system_fingerprint: 'id',
  service_tier: words('auto', 'default', 'fast', 'flex', 'on_demand', 'priority', 'scale', 'standard'),
  metadata: 'none',
  moderation: 'none',
};

export const answerShape: Shape = {
  members: {
    ...head,
    object: words('chat.completion'),
    usage: openAiUsage,
    choices: {
      each: {
        members: {
          index: 'number',
          message: {
            kinds: {
              assistant: {
                members: {
                  ...assistant,
                  audio: {
                    show: 'media',
                    media: 'audio',
                    bytes: ['data'],
                    transcript: 'transcript',
                    isOf: 'audio/*',
                    of: { id: 'id', expires_at: 'number' },
                  },
                },
                as: '',
              },
            },
            by: 'role',
            implied: [['', 'assistant']],
          },
          finish_reason: finish,
          logprobs: { emptied: 'null' },
        },
      },
      as: 'choice',
    },
  },
};

/** Chunk members that need not wait for the whole response. Many servers send unused members as null. */
export const chunkShape: Shape = {
  members: {
    ...head,
    object: words('chat.completion.chunk'),
    obfuscation: 'padding',
    usage: { emptied: 'null' },
    error: 'none',
    choices: {
      each: {
        members: {
          index: 'number',
          delta: {
            members: {
              role: words('assistant', ''),
              content: { show: 'text' },
              refusal: { show: 'refusal' },
              reasoning_content: { show: 'reasoning', isTwin: true },
              reasoning: { show: 'reasoning', isTwin: true },
              ...all(
                'none',
                'tool_calls',
                'function_call',
                'annotations',
                'audio',
                'reasoning_details',
                'name',
              ),
            },
            as: '',
          },
          finish_reason: finish,
          logprobs: { emptied: 'null' },
          ...all(
            'none',
            'content_filter_results',
            'matched_stop',
            'native_finish_reason',
            'stop_reason',
            'token_ids',
          ),
        },
      },
      as: 'choice',
    },
  },
};
