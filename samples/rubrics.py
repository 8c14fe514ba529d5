"""The two jobs of the demo and their rubrics of five criteria, as data in both languages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["must", "nice", "knockout"]
Method = Literal["rule", "model"]


@dataclass(frozen=True, slots=True)
class CriterionData:
    """One criterion as the product stores it; `levels` maps a verdict to its anchor in both languages."""

    key: str
    statement_tr: str
    statement_en: str
    kind: Kind
    method: Method
    weight: int
    rule: dict[str, Any] | None = None
    levels: dict[str, dict[str, str]] = field(default_factory=dict)
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JobData:
    """A job and its rubric; `key` is what truth records refer to."""

    key: str
    title_tr: str
    title_en: str
    description_tr: str
    description_en: str
    criteria: tuple[CriterionData, ...]

    def criterion(self, key: str) -> CriterionData:
        """The criterion of that key; KeyError when the rubric has none."""
        for criterion in self.criteria:
            if criterion.key == key:
                return criterion
        raise KeyError(key)


def _levels(*rows: tuple[str, str, str]) -> dict[str, dict[str, str]]:
    return {verdict: {"tr": tr, "en": en} for verdict, tr, en in rows}


_ENGLISH_B2 = CriterionData(
    key="english",
    statement_tr="İngilizce dil düzeyi en az B2 olarak belirtilmiş.",
    statement_en="English is stated at level B2 or higher.",
    kind="must",
    method="rule",
    weight=2,
    rule={"type": "language_level", "language": "en", "min": "B2"},
    levels=_levels(
        ("met", "B2, C1, C2 veya ana dil.", "B2, C1, C2 or native."),
        ("not_met", "A1, A2 veya B1.", "A1, A2 or B1."),
    ),
    terms=("İngilizce", "English"),
)

BUYER = JobData(
    key="buyer",
    title_tr="Kıdemli Satın Alma Uzmanı",
    title_en="Senior Buyer",
    description_tr=(
        "Üretim malzemeleri ve hizmet alımlarından sorumlu; tedarikçileri seçer, koşulları görüşür, "
        "teslimatı izler. Haftada bir gün tedarikçi ziyareti vardır."
    ),
    description_en=(
        "Owns the purchase of production materials and services: selects suppliers, agrees terms and "
        "follows deliveries. One day a week is spent at suppliers."
    ),
    criteria=(
        CriterionData(
            key="experience",
            statement_tr="En az beş yıl (60 ay) iş deneyimi.",
            statement_en="At least five years (60 months) of work experience.",
            kind="must",
            method="rule",
            weight=3,
            rule={"type": "experience_months", "min": 60},
            levels=_levels(
                (
                    "met",
                    "Tarihlerin birleşimi 60 ay veya fazlası.",
                    "The union of the dates is 60 months or more.",
                ),
                ("not_met", "60 aydan az.", "Fewer than 60 months."),
            ),
        ),
        CriterionData(
            key="negotiation",
            statement_tr="Tedarikçilerle fiyat, vade veya sözleşme koşullarını bizzat müzakere etmiş.",
            statement_en="Has personally negotiated prices, payment terms or contracts with suppliers.",
            kind="must",
            method="model",
            weight=3,
            levels=_levels(
                ("met", "Müzakereyi kendisi yürütmüş.", "Led the negotiation."),
                (
                    "partly",
                    "Müzakereye destek olmuş veya hazırlık yapmış.",
                    "Supported or prepared negotiations.",
                ),
                ("not_met", "Müzakere yapmadığını yazmış.", "States that no negotiation was done."),
            ),
            terms=(
                "müzakere",
                "müzakeresi",
                "müzakereleri",
                "müzakerelerini",
                "müzakerelerinde",
                "müzakerelerine",
                "pazarlık",
                "çerçeve sözleşme",
                "negotiation",
                "negotiations",
                "negotiate",
                "negotiated",
                "negotiating",
                "framework agreement",
            ),
        ),
        _ENGLISH_B2,
        CriterionData(
            key="erp",
            statement_tr="SAP veya başka bir ERP sisteminde satın alma modülü kullanmış.",
            statement_en="Has used the procurement module of SAP or another ERP system.",
            kind="nice",
            method="model",
            weight=1,
            levels=_levels(
                ("met", "Satın alma modülünü kullanmış.", "Used the procurement module."),
                (
                    "partly",
                    "ERP kullanmış, satın alma modülünü değil.",
                    "Used an ERP, not its procurement module.",
                ),
                ("not_met", "ERP kullanmadığını yazmış.", "States that no ERP was used."),
            ),
            terms=("SAP", "SAP MM", "SAP Ariba", "ERP", "satın alma modülü", "procurement module"),
        ),
        CriterionData(
            key="licence",
            statement_tr="B sınıfı sürücü belgesi var.",
            statement_en="Holds a class B driving licence.",
            kind="knockout",
            method="rule",
            weight=1,
            rule={"type": "licence", "class": "B"},
            terms=("sürücü belgesi", "ehliyet", "driving licence", "driving license"),
        ),
    ),
)

BACKEND = JobData(
    key="backend",
    title_tr="Backend Geliştirici",
    title_en="Backend Developer",
    description_tr=(
        "Sipariş ve faturalama servislerini geliştirir ve işletir; Python ve PostgreSQL kullanır, "
        "nöbete katılır."
    ),
    description_en=(
        "Builds and runs the order and invoicing services with Python and PostgreSQL and takes part in the "
        "on-call rota."
    ),
    criteria=(
        CriterionData(
            key="experience",
            statement_tr="En az üç yıl (36 ay) iş deneyimi.",
            statement_en="At least three years (36 months) of work experience.",
            kind="must",
            method="rule",
            weight=3,
            rule={"type": "experience_months", "min": 36},
            levels=_levels(
                (
                    "met",
                    "Tarihlerin birleşimi 36 ay veya fazlası.",
                    "The union of the dates is 36 months or more.",
                ),
                ("not_met", "36 aydan az.", "Fewer than 36 months."),
            ),
        ),
        CriterionData(
            key="python_django",
            statement_tr="Python ve Django ile canlıda çalışan bir servis geliştirmiş.",
            statement_en="Has built a service that runs in production with Python and Django.",
            kind="must",
            method="model",
            weight=3,
            levels=_levels(
                ("met", "Django ile canlı servis.", "A production service with Django."),
                (
                    "partly",
                    "Python var, Django veya canlı servis yok.",
                    "Python, but no Django or no production.",
                ),
                ("not_met", "Python kullanmadığını yazmış.", "States that Python was not used."),
            ),
            terms=("Python", "Django", "Django REST Framework"),
        ),
        CriterionData(
            key="postgresql",
            statement_tr="PostgreSQL deneyimi belirtilmiş.",
            statement_en="Experience with PostgreSQL is stated.",
            kind="must",
            method="rule",
            weight=2,
            rule={"type": "term", "any": ["PostgreSQL", "Postgres"]},
            terms=("PostgreSQL", "Postgres"),
        ),
        _ENGLISH_B2,
        CriterionData(
            key="cloud_iso",
            statement_tr="Bulut altyapısı veya ISO 27001 kapsamında çalışmış.",
            statement_en="Has worked with cloud infrastructure or under ISO 27001.",
            kind="nice",
            method="model",
            weight=1,
            levels=_levels(
                ("met", "İşte kullanmış.", "Used at work."),
                ("partly", "Yalnızca eğitim almış.", "Only a course was taken."),
                ("not_met", "Kullanmadığını yazmış.", "States that it was not used."),
            ),
            terms=("ISO 27001", "AWS", "Azure", "Google Cloud", "Kubernetes", "bulut", "cloud"),
        ),
    ),
)

JOBS: dict[str, JobData] = {job.key: job for job in (BUYER, BACKEND)}
