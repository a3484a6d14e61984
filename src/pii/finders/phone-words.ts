import { textBefore } from '../scanned-text.ts';
import { tellingWords } from './context.ts';
import type { PhoneShape } from './phone-shape.ts';

/** How sure the words around a number are that it is a phone number. */
export type PhoneLabel = 'stated' | 'beside' | 'near' | undefined;

/**
 * Whether the words in the same line say that this is a phone number: with a colon, right beside it with nothing but little words
 * between, or somewhere near.
 */
export function phoneLabelOf(text: string, { start, end }: PhoneShape): PhoneLabel {
  const before = textBefore(text, start, 50);
  if (otherBefore.test(before)) return undefined;
  if (besideBefore.test(before)) return /[:=]\s{0,2}["']?$/.test(before) ? 'stated' : 'beside';
  if (labelAfter.test(text.slice(end, end + 14))) return 'beside';
  return nearBefore.test(before) ? 'near' : undefined;
}

const phones =
  '(?:tele|smart|i)?phones?|tel|tél|tlf|tfno|teléfono|telefono?|telefone|téléphone|télephone|telefoon|mobile|mobil|móvil|mobiel|mobilnummer|' +
  'cell(?:phone|ular)?|cel|celular|handy(?:nummer)?|fax|telefax|facsímil|portable|port|fixe|fijo|festnetz|rufnummer|telefonnummer|durchwahl|' +
  'hotline|helpline|landline|switchboard|front desk|voicemail|answering|whatsapp|wa|signal|viber|sms|telefonisch|standard|numéro vert|' +
  '电话|電話|手机|手機|座机|热线|传真|號碼|号码|致电|拨打|拨|打给|短信|微信(?:同号)?|联系方式|联系|联络|' +
  '携帯|ファックス|ファクス|フリーダイヤル|ダイヤル|連絡先|直通|ショートメール|전화|전화번호|휴대폰|핸드폰|연락처|팩스|' +
  'फ़ोन|फ़ोन|फोन|मोबाइल|दूरभाष|मो\\.?|मोब|व्हाट्सएप|व्हाट्सऐप|हेल्पलाइन|फैक्स|टेलीफोन|एसएमएस';
const verbs =
  'call(?:ed|ing)?|dial(?:led)?|ring|text(?:ed|ing)?|contact(?:ed)?|reach(?:ed)?|messages? (?:to|at|on)|registered(?: number)?|desk|' +
  'ruf|anrufen|erreichbar|erreichst|erreichen|rückruf|kontakt|notfallkontakt|appelle|appelez|appeler|rappelez|rappelle|joignable|joindre|contactez|' +
  'llama(?:me|r|nos|d)?|llámame|llámanos|contacto|marca|localizarme|atención|打|コール|कॉल|संपर्क|call kar(?:o|na)?';
const numbers =
  "(?:my|her|his|our|your|their) (?:new |work |home )?number(?:'s)?|(?:meine|deine|unsere|ihre) (?:neue )?nummer|(?:mon|ton|son|notre|votre) (?:numéro|06|07)|numéro|" +
  "(?:mi|tu|su|nuestro) número|私の番号|手机号|我的号码|मेरा नंबर|का नंबर|नंबर|emergency contact|contact d[’']urgence|紧急联系人|緊急連絡先|お問い合わせ";
const little =
  "no|nr|num|number|nummer|numéro|número|n°|nº|code|is|it['’]s|are|was|at|on|to|me|us|him|her|them|the|or|via|under|via|unter|auf|an|mich|bitte|uns|ist|lautet|privat|mobil|dienstl|" +
  "est|c['’]est|au|le|la|les|sur|moi|nous|es|el|al|en|del?|du|svp|pls|please|by|phone|hai|now|try|24/7|casa|home|work|office|domicile|domicilio|maison|bureau|oficina|büro|privé|perso|pro|cliente|urgence|emergencia|urgencia|mom|mum|mama|mamá|maman|mother|dad|" +
  '番号|號|号|码|同号|是|为|為|は|を|に|へ|まで|が|と|の|発|到|至|请|母亲|父亲|母|父|है|पर|को|करें|करो|नंबर|नम्बर|नं\\.?|न\\.?|संख्या|सूत्र|आईडी|पिताजी|मम्मी|번호|은|는';

const gap = `(?:[ \\t"'’():;,.=#>*→<\\[\\]｜|、：-]|\\n|\\p{L}{2,20}nummer(?!\\p{L})|${tellingWords(little).source}){0,12}$`;
const besideBefore = tellingWords(`${phones}|${verbs}|${numbers}`, gap);
const nearBefore = tellingWords(
  `${phones}|${verbs}`,
  '(?:(?<=tel|mobil)\\.)?[^\\n\\d@.!?。！？]{0,30}(?:no\\.)?\\n?[^\\n\\d@.!?。！？]{0,4}$',
);
const otherBefore = tellingWords(
  'order|invoice|ticket|case|account|tracking|reference|ref|id|version|license|licence|passport|card|zip|sku|serial|isbn|ean|rechnung|bestellung|kundennummer|vertrag|aktenzeichen|az|artikel|commande|facture|référence|contrat|pedido|factura|referencia|expediente|contrato|dni|cuenta|订单|发票|编号|编码|工单|合同|卡号|账号|批次|序列|注文|顧客|契約|請求書?|伝票|型番|カード|口座|マイナンバー|個人|暗証|आधार|पैन|पिन|ऑर्डर|बिल|खाता|ग्राहक|टिकट|ट्रेन|कार्ड|चालान|अनुबंध',
  '[^\\n\\p{L}]{0,4}(?:no\\.?|number|num|#|is|:|nr\\.?|nummer|号|番号|号码|नंबर|संख्या)?[^\\n\\p{L}]{0,4}$',
);
const labelAfter = /^[ \-,(]{0,3}(?:phone|mobile|cell|fax|office|desk|home|work|tel|handy|mobil)(?!\p{L})/iu;
