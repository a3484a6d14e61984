export type Row = readonly [content: string, params: object, score: number];

/** The cases of instructions_test.py of google-research/instruction_following_eval, Apache-2.0, indented as there. */
const bullets = [
  '\n  start each line with an asterisk (*). For example:\n  * This is a bullet point.\n  *(no space required)Another bullet point.\n  * (no newline ending required)Another bullet point.\n  markdown bullet points are often used to create to-do lists',
  '\n  Check that inline asterisk (*), *, will not be counted. Only * that starts a\n  bullet list will be counted:\n    * This is a bullet point.\n    * Another bullet point.\n    . dot is not counted',
  '\n  Here are three markdown bullets:\n  - I am a large language model, also known as a conversational AI.\n  - I am trained on a massive amount of text data, and I am able to communicate.\n  -I am still under development, but I am learning new things every day.',
  '\n  Paragraph 1\n  ***\n  Paragraph 2\n  ***\n  Paragraph 3\n  * only one bullet point\n  ',
] as const;

const paris = [
  '\n  Paris is a city of beauty and romance. The romantic river Seine winds its way\n  through the city, past iconic landmarks like the Eiffel Tower and the Louvre\n  Museum, where the Mona Lisa resides.',
  '\n  Paris is a city of beauty, romance, and history. The city is also known for its romantic\n  river cruises, its delicious food, and its stylish people.\n  ',
] as const;

const puppies =
  '\n  Wow this is a very long response.\n\n  I can’t believe there is more than three paragraphs.\n\n  %s more than three? No way!\n\n  I can’t believe it but I guess I am living proof.\n\n  Haha, you go that right.';

const power = '\n  The Nazis came to power in 1933 through a combination of legal and illegal\n  means.';
const gpt =
  '\n  GPT, or Generative Pre-trained Transformer, is a family of neural network\n  models that uses the transformer architecture. GPT models are trained on a\n  massive dataset of text and code, and are used by companies like Google.\n  ';

const atLeast = { relation: 'at least' };
const lessThan = { relation: 'less than' };

export const ifevalCases: Readonly<Record<string, readonly Row[]>> = {
  'language:response_language': [
    ['The response is English', { language: 'en' }, 1],
    ["Desayunamos en McDonald's hoy", { language: 'es' }, 1],
    ['Today we visit the Louvre', { language: 'en' }, 1],
  ],
  'length_constraints:number_sentences': [
    ['xx,x. xx,x! xx/x. x{x}x?', { num_sentences: 4, ...lessThan }, 0],
    ['xxxx. xx,x! xxxx. x(x)x?', { num_sentences: 5, ...lessThan }, 1],
    ['xxxx. xx,x! xx|x. x&x x?', { num_sentences: 4, ...atLeast }, 1],
    ['xx-x. xx,x! xx}x. x,xx?', { num_sentences: 5, ...atLeast }, 0],
  ],
  'detectable_content:number_placeholders': [
    ['5 placeholders:\n[Name]\n[Email]\n[Phone]\n[Address]\n[Website]\nThis', { num_placeholders: 5 }, 1],
    ['My [adjective] [noun] is [adjective] [noun]. I [verb] and [verb].', { num_placeholders: 7 }, 0],
  ],
  'detectable_format:number_bullet_lists': [
    [bullets[0], { num_bullets: 3 }, 1],
    [bullets[1], { num_bullets: 2 }, 1],
    [bullets[2], { num_bullets: 3 }, 1],
    [bullets[3], { num_bullets: 1 }, 1],
  ],
  'detectable_format:constrained_response': [
    ['\n My answer is no.\n', {}, 1],
    ['My answer is no.   ', {}, 1],
    ['\n  My answer is no. I am still under development and I am always learning.', {}, 1],
  ],
  'detectable_format:number_highlighted_sections': [
    [
      'you would type:*hello*, You can also use the ** character. For example, **hello** ',
      { num_highlights: 2 },
      1,
    ],
    [
      '\n  *Finite difference methods\n  *Finite element methods*\n  *Boundary element methods\n  *Monte Carlo methods\n',
      { num_highlights: 2 },
      0,
    ],
    [
      '\n  *two different* highlighted *sections in the same*\n  line. **This is also true** for **double markdown highlights.**\n',
      { num_highlights: 4 },
      1,
    ],
  ],
  'detectable_format:multiple_sections': [
    [
      '\n  Mark the beginning with "Section X", such as:\n  Section 1\n  [content of section 1]\n  Section 2\n  [content of section 2]',
      { section_spliter: 'Section', num_sections: 3 },
      0,
    ],
    [
      'SECTION 1\n  [content of section 1]\n  SECTION 2\n  [content of section 2]',
      { section_spliter: 'SECTION', num_sections: 2 },
      1,
    ],
  ],
  'length_constraints:number_paragraphs': [
    ['\n  paragraph 1\n  ***\n  paragraph 2\n  ***\n  paragraph 3', { num_paragraphs: 3 }, 1],
    ['\n ***\n  paragraph 1\n ***\n  paragraph 2\n ***\n  paragraph 3', { num_paragraphs: 3 }, 1],
    ['\n  paragraph 1\n ***\n  paragraph 2\n ***\n  paragraph 3\n ***', { num_paragraphs: 3 }, 1],
    ['\n  paragraph 1\n ***\n  paragraph 2\n ***\n ***', { num_paragraphs: 2 }, 0],
  ],
  'detectable_content:postscript': [
    [
      'always learning new things.\n\n  P.S. I hope this is what you were looking for.',
      { postscript_marker: 'P.S.' },
      1,
    ],
    [
      'always learning new things.\n\n  P.S. I hope this is what you were looking for.',
      { postscript_marker: 'PS:' },
      0,
    ],
    ['questions.\n\n  P.P.S. I am always happy.\n\n  Do you have any?', { postscript_marker: 'P.P.S' }, 1],
    [
      'just a point. (not starting a new line) P.S. I hope you enjoyed\n  my joke!',
      { postscript_marker: 'P.S.' },
      1,
    ],
    [
      'will also be one.\n  p.p.s what if the entire response was lower case?\n  ',
      { postscript_marker: 'P.P.S' },
      1,
    ],
    [
      'mysterious.\n  P. S. Sometimes there are even spaces between P. and S..\n  ',
      { postscript_marker: 'P.S.' },
      1,
    ],
  ],
  'keywords:existence': [
    [paris[0], { keywords: ['romantic', 'river', 'Mona Lisa'] }, 1],
    [paris[1], { keywords: ['romantic', 'river', 'Mona Lisa'] }, 0],
  ],
  'keywords:frequency': [
    ['\n  keyword, Keyword, KEYWORD\n  ', { keyword: '  keyword ', frequency: 4, ...lessThan }, 1],
    ['\n  keyword, Keyword, KEYWORD\n  ', { keyword: '  keyword ', frequency: 3, ...atLeast }, 1],
    ['\n    *keyword\n    *Keyword\n    *KEYWORD\n', { keyword: 'KEYWORD', frequency: 4, ...atLeast }, 0],
  ],
  'length_constraints:number_words': [
    ['\n  d3sCRi7 lArge lAnguagE M0del w1tH 20 w0RdS.', { num_words: 8, ...lessThan }, 1],
    [
      '\n  L4RGE L4NGU4GE M0DEL: AI syst3m th4t und3rstands, g3n3r4tes, or tr4nsforms\n  l4ngu4g3 b4s3d on pr3vious l3arning & d4t4.',
      { num_words: 16, ...lessThan },
      0,
    ],
    [
      '\n  L4RGE L4NGU4GE M0DEL: AI syst3m th4t und3rstands, g3n3r4tes, or tr4nsforms\n  l4ngu4g3 b4s3d on pr3vious l3arning & d4t4.',
      { num_words: 16, ...atLeast },
      1,
    ],
  ],
  'length_constraints:nth_paragraph_first_word': [
    [
      '\n  paragraph 1\n\n  I paragraph 2\n\n  paragraph 3',
      { num_paragraphs: 3, nth_paragraph: 2, first_word: 'I' },
      1,
    ],
    ['\n  paragraph 1\n\n  I paragraph 2', { num_paragraphs: 3, nth_paragraph: 2, first_word: 'I' }, 0],
    [
      '\n  paragraph 1\n\n  fail paragraph 2\n\n  paragraph 3',
      { num_paragraphs: 3, nth_paragraph: 2, first_word: 'I' },
      0,
    ],
    [puppies.replace('%s', 'Really'), { num_paragraphs: 5, nth_paragraph: 5, first_word: 'haha' }, 1],
    [puppies.replace('%s', '"Really?!'), { num_paragraphs: 5, nth_paragraph: 3, first_word: 'Really' }, 1],
    [puppies.replace('%s', 'Rea!lly'), { num_paragraphs: 5, nth_paragraph: 3, first_word: 'Really' }, 0],
  ],
  'keywords:forbidden_words': [
    [power, { forbidden_words: ['HOUSE', 'POWER', 'BECOME'] }, 0],
    [gpt, { forbidden_words: ['HOUSE', 'POWER', 'BECOME'] }, 1],
    [power, { forbidden_words: ['GOOGLE', 'TEXT'] }, 1],
    [gpt, { forbidden_words: ['GOOGLE', 'TEXT'] }, 0],
    [gpt, { forbidden_words: ['GENE', 'TRANSFORM'] }, 1],
  ],
  'combination:two_responses': [
    ['\n  This is response 1.\n  ******\n  This is response 2.\n  ', {}, 1],
    ['\n  This is response 1.\n  ******\n  This is response 1.\n  ', {}, 0],
    ['\n  response 1.\n  ******\n  response 2.\n  ******\n  response 3.\n', {}, 0],
    ['\n  ******\n  Response 1.\n  ******\n  ******\n  Response 2.\n  ******\n  ', {}, 0],
    ['\n  ******\n  Response 1\n  ******\n  Response 2\n  ******\n  ', {}, 1],
  ],
  'combination:repeat_prompt': [
    [
      'Write a CL description. Hi, Le and TJ, please\n  check this out.',
      { prompt_to_repeat: 'Write a CL description.' },
      1,
    ],
    ['Hi, Le and TJ. Write a CL description. Thanks.\n', { prompt_to_repeat: 'Write a CL description.' }, 0],
  ],
  'startend:end_checker': [
    ['\n  The answer is 7. Any more questions?\n  ', { end_phrase: '\n  Any more questions?\n  ' }, 1],
    ['\n  I am required to say that this is the end.\n  ', { end_phrase: '\n  This is the end.\n  ' }, 1],
    ['\n  This will fail. Paris is cool.\n  ', { end_phrase: '\n  This will fail.\n  ' }, 0],
  ],
  'detectable_format:title': [
    ['\n  <<Song of Joy>>\n  La la la. Happy song.\n  ', {}, 1],
    ['\n  Is it fine for title to be at the end?\n  <<This is the title>>\n  ', {}, 1],
    ['\n  << >>\n  There is no title.\n  ', {}, 0],
    ['\n  <<This is not a title.\n  This is a paragraph.>>\n  ', {}, 0],
  ],
  'keywords:letter_frequency': [
    ["\n  There is the T. Four T's.\n  ", { letter: 'T', let_frequency: 4 }, 1],
    ['\n  asdfghjkl!!aA\n  ', { letter: 'a', let_frequency: 4, let_relation: 'less than' }, 1],
    ['\n  asdfghjkl!!aA\n  ', { letter: 'p', let_frequency: 4 }, 0],
    ['#one #two #three #four', { letter: '#', let_frequency: 4 }, 1],
    ['#one #two #three', { letter: '#', let_frequency: 4 }, 0],
  ],
  'change_case:english_capital': [
    ['\n  THIS IS AN ENGLISH SENTENCE. EVERY LETTER IS CAPITALIZED!!! AMAZING.\n  ', {}, 1],
    ['\n  Every Word Is Capitalized.\n  ', {}, 0],
  ],
  'change_case:english_lowercase': [
    ['\n  every letter is lowercase.\n  ', {}, 1],
    ['\n  Almost every letter is lowercase.\n  ', {}, 0],
  ],
  'punctuation:no_comma': [
    ['\n  Every sentence is short. There is no need for a comma.\n  ', {}, 1],
    ['\n  Since the start of time, people have always found a way to punctuate.\n  ', {}, 0],
  ],
  'change_case:capital_word_frequency': [
    ['\n  HERE there are THREE FUlly CAPITAL words.\n  ', { capital_frequency: 3 }, 1],
    [
      '\n  THERE are Four FULLY CAPITAL WORDS. Many Others Are Only Partially So.\n  ',
      { capital_frequency: 5, capital_relation: 'less than' },
      1,
    ],
    [
      '\n  THERE are Four FULLY CAPITAL WORDS. Many Others Are Only Partially So.\n  ',
      { capital_frequency: 4, capital_relation: 'less than' },
      0,
    ],
  ],
  'startend:quotation': [
    ['\n  "This entire message is wrapped in double quotation marks."\n  ', {}, 1],
    ['\n  "This message is wrapped in double quotation marks." But not everything.\n  ', {}, 0],
  ],
};
