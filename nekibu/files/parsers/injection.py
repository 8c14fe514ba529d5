"""Instruction-like text: sentences that speak to a model instead of to a reader. Found, reported, never removed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nekibu.language.turkish import key


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A stretch of the stored text that looks like an instruction, and which kind of instruction."""

    start: int
    end: int
    kind: str


# The patterns see the relaxed key: lower case, accents gone, every i the same, white space one blank.
_EN_ORDERS = r"(?:instruction|prompt|rule|direction|guideline|command|message|context|criteria|rubric)s?"
_TR_ORDERS = r"(?:talimat|komut|kural|yonerge|istem|direktif|prompt|mesaj|kriter|olcut)\w*"
_PERSON = r"(?:this|the|that|my)\s+(?:candidate|applicant|person|cv|resume|application|profile)|me|him|her"
_TR_PERSON = r"(?:bu|soz konusu)\s+(?:aday|basvuru|kisi|ozgecmis|cv|profil)\w*"
_VERDICTS = r"(?:met|satisfied|fulfilled|karsilan(?:di|iyor|mis)\w*|saglan(?:di|iyor|mis)\w*)"

_PATTERNS: tuple[tuple[str, str], ...] = (
    (
        "ignore",
        rf"\b(?:ignore|disregard|forget|override|bypass|skip)\b[^.!?]{{0,40}}\b(?:previous|prior|above|earlier|preceding|all|any|your|system|other|the)\b[^.!?]{{0,30}}\b{_EN_ORDERS}\b",
    ),
    (
        "ignore",
        rf"\b(?:onceki|yukaridaki|bundan onceki|daha onceki|tum|butun|sistem|verilen|mevcut|diger|bu)\b[^.!?]{{0,40}}\b{_TR_ORDERS}[^.!?]{{0,25}}(?:yok say|gormezden gel|goz ardi et|dikkate alma|unut|gecersiz say|bosver|atla\b|uyma\b|iptal et)\w*",
    ),
    ("ignore", rf"\b{_TR_ORDERS}\s+(?:yok say|gormezden gel|goz ardi et|unut|gecersiz say)\w*"),
    (
        "role",
        r"<\s*\|\s*(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|begin_of_text)\s*\|\s*>",
    ),
    ("role", r"\[/?inst\]|<<\s*/?sys\s*>>|</?(?:system|assistant|instructions?|prompt)>"),
    (
        "role",
        r"(?:^|\n)[ \t]*(?:#{1,4}[ \t]*)?\**(?:system|assistant|developer|sistem|asistan)\**(?:\s+(?:prompt|message|mesaji|istemi|talimati))?\**\s*:",
    ),
    (
        "score",
        rf"\b(?:score|rate|rank|grade|evaluate|mark|classify|give|assign|recommend|hire|accept|approve|select)\b[^.!?]{{0,30}}\b(?:{_PERSON})\b[^.!?]{{0,40}}\b(?:highest|high|higher|top|best|maximum|max|full|100|10|first|met|qualified|hired?|immediately|strong)\b",
    ),
    (
        "score",
        r"\b(?:give|assign|award)\b[^.!?]{0,20}\b(?:highest|maximum|full|top|perfect)\b[^.!?]{0,15}\b(?:score|rating|mark|grade|points)\b",
    ),
    (
        "score",
        rf"\b(?:all|every|each)\s+(?:of\s+the\s+)?(?:criteria|criterion|requirements?|must-haves?)\s+(?:is|are|as|have been|has been|should be|must be)\s+(?:\w+\s+)?{_VERDICTS}",
    ),
    (
        "score",
        rf"\b{_TR_PERSON}[^.!?]{{0,40}}\b(?:en yuksek|tam|maksimum|en iyi|100)\b[^.!?]{{0,20}}\b(?:puan|not|skor|derece)\w*",
    ),
    ("score", r"\b(?:en yuksek|tam|maksimum)\s+(?:puan|not|skor)\w*\s+(?:ver|at[ae]\b|yaz)\w*"),
    (
        "score",
        rf"\b(?:tum|butun|her)\s+(?:kriter|olcut|kosul|gereksinim)\w*\s+(?:\w+\s+)?(?:{_VERDICTS}|karsilanmis|saglanmis)\s*(?:say|kabul et|olarak|isaretle|goster|diye)?",
    ),
    (
        "score",
        rf"\b{_TR_PERSON}[^.!?]{{0,25}}\b(?:mutlaka|kesinlikle|dogrudan|hemen|derhal)\b[^.!?]{{0,25}}\b(?:ise al|kabul et|oner|sec|onayla)\w*",
    ),
    (
        "addressed",
        r"\b(?:you are|act as|pretend to be|behave as)\s+(?:now\s+)?(?:an?\s+|the\s+)?(?:ai|assistant|language model|llm|evaluator|recruiter|hiring manager|reviewer|chatgpt|model)\b",
    ),
    (
        "addressed",
        r"\b(?:note|message|attention|dear|instructions?|hinweis)\s+(?:to|for)\s+(?:the\s+)?(?:ai|llm|model|language model|assistant|chatgpt|evaluator|screening system|ats|bot|reviewer)\b",
    ),
    ("addressed", r"\breviewer note\s*:"),
    (
        "addressed",
        r"\b(?:yapay zeka|dil modeli|degerlendirici|model|asistan|chatgpt)\w*\s+(?:icin|a|e|ya|ye)?\s*(?:not|talimat|mesaj)\w*\s*:",
    ),
    ("addressed", r"\b(?:sen|artik)\s+(?:bir\s+)?(?:yapay zeka|dil modeli|asistan|degerlendirici)\w*"),
    (
        "addressed",
        r"\b(?:reveal|print|repeat|output|show)\b[^.!?]{0,20}\b(?:system prompt|your instructions|your prompt)\b",
    ),
    (
        "heading",
        r"(?:^|\n)[ \t]*[#=*\-\[<]{1,6}\s*(?:instructions?|output schema|output format|response format|rubric|criteri(?:a|on)|evaluation (?:rules|criteria)|role criteria|system prompt|question|evidence|end of (?:cv|resume|document|data)|cv pieces|talimatlar|cikti semasi|cikti bicimi|degerlendirme (?:kurallari|olcutleri)|rol olcutleri|soru|kanitlar|cv sonu|ozgecmis sonu)\b\s*[#=*\-\]>:]{1,6}\s*(?:\n|$)",
    ),
    (
        "heading",
        r"(?:^|\n)[ \t]*[#=*\-<]{2,6}\s*(?:output (?:schema|format)|response format|system prompt|role criteria|instructions?)\b[^\n]{0,20}(?:\n|$)",
    ),
    (
        "heading",
        r"(?:^|(?<=[\n.!?]))[ \t]*(?:rubric of the job\s*:|criterion\s*:\s*\w+\s*:|terms\s*:[^\n;]{1,60};|verdicts\s*:\s*met\b)",
    ),
    ("heading", r"(?:^|\n)[ \t]*\[e\d{1,3}\]\s"),
    ("heading", r'"verdict"\s*:\s*"|\bverdict\s*[:=]\s*"?(?:met|partly|not_met|not_stated)\b'),
)
_COMPILED = tuple((kind, re.compile(pattern)) for kind, pattern in _PATTERNS)


def suspicions(text: str) -> tuple[Suspicion, ...]:
    """Every instruction-like stretch in text order, overlapping finds joined."""
    folded = key(text, collapse=False)
    found: list[Suspicion] = []
    for kind, pattern in _COMPILED:
        for match in pattern.finditer(folded.text):
            start, end = match.span()
            while start < end and folded.text[start].isspace():
                start += 1
            while end > start and folded.text[end - 1].isspace():
                end -= 1
            if start < end:
                found.append(Suspicion(*folded.span(start, end), kind))
    joined: list[Suspicion] = []
    for suspicion in sorted(found, key=lambda s: (s.start, s.end)):
        if joined and suspicion.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = Suspicion(last.start, max(last.end, suspicion.end), last.kind)
        else:
            joined.append(suspicion)
    return tuple(joined)
