"""Telling English from other languages."""

import pytest

from embassay.stats.lexical.language import language_of

ENGLISH = (
    "The parcel was left with our neighbour on the second floor.",
    "I don’t think they will finish before noon.",
    "Nobody knows why she sold it.",
)
OTHER = {
    "German": "Das Paket liegt bei der Nachbarin und ich habe es noch nicht geholt.",
    "French": "Le colis est chez la voisine et je ne sais pas quand elle sera là.",
    "Spanish": "El paquete está en la casa de la vecina y no sé cuándo vuelve.",
    "Italian": "Il pacco è dalla vicina e non so quando torna con le chiavi della porta.",
    "Portuguese": "O pacote está com a vizinha e eu não sei quando ela volta para casa.",
    "Dutch": "Het pakje ligt bij de buurvrouw en ik heb het nog niet opgehaald.",
    "Swedish": "Paketet ligger hos grannen och jag har inte hämtat det än.",
    "Polish": "Paczka jest u sąsiadki i nie wiem, czy już wróciła do domu.",
}


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_english(text):
    assert language_of(text) == "English"


@pytest.mark.parametrize("language", sorted(OTHER))
def test_other_languages_are_named(language):
    assert language_of(OTHER[language]) == language


@pytest.mark.parametrize("text", ["Посылка лежит у соседки.", "包裹在邻居家。", "Το δέμα είναι στη γειτόνισσα."])
def test_other_scripts_are_of_another_language(text):
    assert language_of(text) == "another"


@pytest.mark.parametrize("text", ["", "Thanks!", "Lovely day", "12 345"])
def test_what_tells_nothing_is_not_decided(text):
    assert language_of(text) == ""


def test_a_long_text_without_function_words_is_none():
    assert language_of("Zorbu kelta mipo drana vesti oku") == "another"
