"""``embassay adapt``: from a base and a corpus to variants, verdict and cards; what it takes up and what it refuses."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import embassay as ea
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.training.adapt import Adaptation, AdaptRequest

torch = pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("accelerate", reason="the train extra is not installed")
pytest.importorskip("datasets", reason="the train extra is not installed")
VARIANTS = ["pretrained", "finetuned", "pretrained+finetuned"]
QUICK = {"test": 0.3, "resamples": 50, "seed": 5}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A tiny random model that is near to a bag of words, its words those of the built-in handbook."""
    import sentence_transformers as st
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("base")
    found = {word for _, text in ea.load("handbook").texts() for word in re.findall(r"\w+|[^\w\s]", text.lower())}
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(found)]
    (folder / "vocab.txt").write_text("\n".join(words))
    sizes = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = BertModel(BertConfig(vocab_size=len(words), max_position_embeddings=64, **sizes))
        torch.nn.init.normal_(model.embeddings.word_embeddings.weight)
        for part in (model.embeddings.position_embeddings, model.embeddings.token_type_embeddings):
            torch.nn.init.zeros_(part.weight)
    model.save_pretrained(folder / "hf")
    BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=True).save_pretrained(folder / "hf")
    whole = st.SentenceTransformer(str(folder / "hf"), device="cpu")
    whole.save_pretrained(str(folder / "tiny"), create_model_card=False)
    return str(folder / "tiny")


def pretended(monkeypatch):
    calls = []

    def train(kind, stage, base, advance, **given):
        from safetensors.torch import load_file, save_file

        calls.append((kind, base, {**given, "stage": stage}))
        advance(1, 2)
        assert not stage.open()

        def write(folder):
            shutil.copytree(
                base, folder, ignore=shutil.ignore_patterns("README.md", "training.json"), dirs_exist_ok=True
            )
            name = "embeddings.word_embeddings.weight"
            weights = load_file(folder / "model.safetensors")
            weights[name] = weights[name] + 0.3 * torch.roll(weights[name], len(calls), dims=0)
            save_file(weights, folder / "model.safetensors", {"format": "pt"})

        note = f"A note on {kind}."
        stage.finish(write, {"rows": 7, "steps": 3, "evaluations": [], "notes": [note]})
        return stage.trained(note)

    def pretrain(stage, base, sentences, *, advance):
        return train("pretrain", stage, base, advance, sentences=sentences)

    def finetune(stage, base, triplets, dev, corpus, *, advance):
        return train("finetune", stage, base, advance, triplets=triplets, dev=dev, corpus=corpus)

    monkeypatch.setattr("embassay.training.pretraining.pretrain", pretrain)
    monkeypatch.setattr("embassay.training.finetuning.finetune", finetune)
    return calls


@pytest.fixture(scope="module")
def lasting_cache(tmp_path_factory):
    """A cache of vectors for all tests of this module that ask for it."""
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def adapted(base, lasting_cache, tmp_path_factory):
    """One whole adaptation to the handbook: (what the encoder returned, the calls of the trainers)."""
    patch = pytest.MonkeyPatch()
    patch.setenv("EMBASSAY_CACHE", lasting_cache)
    calls = pretended(patch)
    found = ea.adapt(
        base, "handbook", tmp_path_factory.mktemp("out") / "a", ea.AdaptOptions(**QUICK), general=[pairs()]
    )
    patch.undo()
    return found, calls


def prepared(base, out, corpora=("handbook",), overwrite=False, **options):
    """An adaptation whose input has been checked."""
    options = ea.AdaptOptions(test=0.3, **options)
    return Adaptation.prepare(AdaptRequest(base, corpora, out, options, overwrite=overwrite))


def pairs():
    """A general corpus of questions, of our own writing."""
    names = "river bridge tower garden market street harbour school station library".split()
    documents = [Document(f"d{i}", (f"The {n} was built in the year {1800 + i}.",)) for i, n in enumerate(names)]
    questions = [Question(f"q{i}", f"When was the {n} built?", (f"d{i}",)) for i, n in enumerate(names)]
    return Corpus("towns", "retrieval", tuple(questions), documents=tuple(documents), licence="CC0")


def test_all_four_variants_are_assayed_on_the_test_questions(adapted):
    found, _ = adapted
    assert [encoder.name for encoder in found.result.encoders] == ["base", *VARIANTS]
    assert len({encoder.fingerprint for encoder in found.result.encoders}) == 4
    own = next(corpus for corpus in found.result.corpora if corpus.name == "handbook")
    split = json.loads((found.folder / "split.json").read_text())
    assert own.items == len(split["test"])
    assert own.documents == 301
    assert not set(split["test"]) & {*split["train"], *split["dev"]}
    looked = {(row.diagnostic, row.corpus) for row in found.result.rows}
    assert looked == {
        ("retrieval", "handbook"),
        ("retrieval", "towns"),
        ("negated_antonyms", "opposites"),
        ("minimal_pairs", "edits"),
        ("composition", "vignettes"),
    }


def test_the_trainers_get_training_and_dev_questions_only(adapted):
    found, calls = adapted
    assert [kind for kind, *_ in calls] == ["pretrain", "finetune", "finetune"]
    split = json.loads((found.folder / "split.json").read_text())
    asked = {sample.question: sample.id for sample in ea.load("handbook").samples}
    for _, _, given in calls[1:]:
        assert {asked[t.question] for t in given["triplets"]} <= set(split["train"])
        assert [question.id for question in given["dev"]] == split["dev"]
        assert given["stage"].recipe.seed == 5
    assert not set(asked) & set(calls[0][2]["sentences"])
    assert calls[2][1].endswith("pretrained")
    assert calls[1][1] == calls[0][1]


def test_a_run_on_the_held_out_questions_gives_the_same_figures(adapted, lasting_cache):
    found, _ = adapted
    (source,) = found.held_out
    assert source == f"{found.folder / 'questions' / 'handbook.jsonl'},split=test"
    models = [f"{label}={spec}" for label, spec in found.models.items()]
    expected = [row for row in found.result.rows if (row.diagnostic, row.corpus) == ("retrieval", "handbook")]
    same = {"resamples": 50, "seed": 5, "cache": lasting_cache}
    alone = ea.assay(models, source, "retrieval,compare=all,paper=true", baselines=False, **same)
    assert [c.fingerprint for c in alone.corpora if c.name == "handbook"] == [
        c.fingerprint for c in found.result.corpora if c.name == "handbook"
    ]
    assert [replace(row, signature="") for row in alone.rows] == [replace(row, signature="") for row in expected]
    # Other encoders and transforms change no value; intervals of shares depend on all encoders of a run.
    beside = ea.assay([*models, "tfidf"], source, "retrieval,transforms=all,paper=true", **same)
    values = {(row.encoder, row.key): row.value for row in beside.rows}
    assert all(values[row.encoder, row.key] == row.value for row in expected if row.encoder)
    assert {row.condition for row in beside.rows} >= {"standardize", "whiten", "remove_pcs"}
    # All other questions, those of the dev set too, are the training part.
    train = ea.load(source.replace("split=test", "split=train")).samples
    whole = ea.load(source.removesuffix(",split=test")).samples
    assert len(whole) - len(train) == alone.corpora[0].items
    assert whole == ea.load("handbook").samples


def test_the_cards_hold_figures_and_no_sentence(adapted):
    found, _ = adapted
    texts = {text for _, text in ea.load("handbook").texts()} | {text for _, text in pairs().texts()}
    for variant in VARIANTS:
        card = (found.folder / variant / "README.md").read_text()
        assert not [text for text in texts if text in card]
        assert re.search(
            r"\| handbook[^|]*\| Success@5 +\| accuracy \(l = 100\) +\| COE +\| ROE +\| τ +\| IsoScore", card
        )
        assert found.result.encoders[0].fingerprint in card
        assert "CC-BY-4.0" in card
        assert re.search(rf"\| handbook +\| learnt, before the split +\| {ea.load('handbook').fingerprint} +\|", card)
        assert "base_model" not in card
        assert f"- {variant}, in short:" in card
        assert not [line for line in card.splitlines() if line.startswith("- ") and "in short" in line][1:]


def test_the_models_load_by_their_specs(adapted):
    found, _ = adapted
    assert list(found.models) == ["base", *VARIANTS]
    for variant in VARIANTS:
        assert ea.encoder(found.models[variant]).encode(["a mast"]).shape == (1, 64)


def test_other_settings_are_refused_before_anything_is_done(adapted, base):
    found, _ = adapted
    with pytest.raises(ea.InputError, match=r"other settings \(different: seed\)"):
        ea.adapt(base, "handbook", found.folder, ea.AdaptOptions(**{**QUICK, "seed": 6}))
    with pytest.raises(ea.InputError, match=r"finetuned: contains a training with other settings \(different: rate\)"):
        ea.adapt(base, "handbook", found.folder, ea.AdaptOptions(finetune=True, rate=0.1, **QUICK))


def test_split_by_context_no_negative_answers_a_test_question(base, tmp_path):
    adaptation = prepared(base, tmp_path / "a", by="context")
    material = adaptation.material
    held_out = {d.passages[0] for d in material.union.documents if d.id in material.held_out}
    wrong = {text for triplet in adaptation.triplets() for text in triplet.wrong}
    assert len(held_out) > 20 < len(wrong)
    assert not held_out & wrong


def test_a_folder_that_holds_the_base_is_refused_and_nothing_of_it_goes(base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(base, "bo/pretrained")
    Path("bo/adaptation.json").write_text('{"asked": {}, "variants": {"pretrained": {}}}')
    request = AdaptRequest("./bo/pretrained", ["handbook"], Path("bo"), ea.AdaptOptions(test=0.3), overwrite=True)
    with pytest.raises(ea.InputError, match=r"is inside the output folder bo; choose another folder with -o"):
        Adaptation.prepare(request)
    assert Path("bo/pretrained/model.safetensors").exists()


def test_a_base_that_an_adaptation_made_is_said(base, tmp_path):
    model = tmp_path / "a" / "finetuned"
    shutil.copytree(base, model)
    note = "the base was trained by embassay adapt; if test questions were among its training questions"
    assert not [line for line in prepared(base, tmp_path / "b").summary() if line.startswith(note)]
    (model / "training.json").write_text('{"kind": "finetuning"}')
    assert [line for line in prepared(str(model), tmp_path / "b").summary() if line.startswith(note)]


def test_the_base_s_options_hold_in_training_and_assay(base, tmp_path, monkeypatch):
    spec = f"{base},query_prompt=which ,document_prompt=the ,similarity=dot"
    adaptation = prepared(spec, tmp_path / "a")
    assert adaptation.base.card.prompts == {"query": "which ", "document": "the "}
    (entry,) = adaptation.plan.entries
    assert (entry.label, entry.encoder.card) == ("base", adaptation.base.card)
    assert entry.encoder.fingerprint == adaptation.base.fingerprint
    said = []
    monkeypatch.setattr(
        "embassay.training.pretraining.pretrain",
        lambda stage, start, *given, **more: said.append(start) or stage.trained(),
    )
    adaptation.train("pretrained", (), None)
    assert said == [spec]


RECORDS = ("split.json", "verdict.md", "training.json", "README.md")


def records(folder):
    """The bytes of what an adaptation writes about itself, and of all weights."""
    files = (path for path in folder.rglob("*") if path.name in RECORDS or path.suffix == ".safetensors")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.parent.name != "run"}


@pytest.mark.slow
def test_a_real_adaptation_that_is_killed_again_and_again_ends_with_the_same_bytes(base, tmp_path, start_process):
    """SIGKILL at each stage: in pre-training, in fine-tuning, in the assay."""
    command = [sys.executable, "-m", "embassay", "adapt", base, "-c", "handbook", "--test", "0.3", "--seed", "5"]
    command += ["--rate", "1e-3", "--epochs", "4", "--batch", "4", "--resamples", "50", "-o", "A"]
    outs = {}
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
        outs[name] = tmp_path / name / "A"
    environment = {**os.environ, "EMBASSAY_CACHE": str(tmp_path / "cache")}

    def start(name):
        return start_process(command, cwd=tmp_path / name, env=environment, stdout=subprocess.DEVNULL)

    assert start("whole").wait(timeout=600) == 0
    found = records(outs["whole"])
    assert {Path(name).name for name in found} == {*RECORDS, "model.safetensors"}
    moments = (
        "pretrained.training/checkpoint-*/weights.safetensors",
        "finetuned.training/checkpoint-*",
        "run/run.json",
    )
    kills = 0
    for moment in moments:
        process = start("killed")
        while process.poll() is None and not list(outs["killed"].glob(moment)):
            time.sleep(0.01)
        kills += process.poll() is None
        process.kill()
        process.wait(timeout=600)
    assert kills >= 2
    assert start("killed").wait(timeout=600) == 0
    assert records(outs["killed"]) == found
    assert all("steps" in (outs["whole"] / name / "README.md").read_text() for name in VARIANTS)
