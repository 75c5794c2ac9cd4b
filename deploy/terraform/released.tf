# Released batches, receipts and the list of keys: written once by release, read by the analyzer.
resource "aws_s3_bucket" "released" {
  # checkov:skip=CKV_AWS_18: an access log would say who fetched what and when
  # checkov:skip=CKV_AWS_144: a second region is the operator's choice; a lost batch can be fetched from the analyzer
  # checkov:skip=CKV2_AWS_62: nothing waits for events; the analyzer fetches when a round is over
  bucket = "${var.name}-released-${data.aws_caller_identity.shuffler.account_id}"
}

resource "aws_s3_bucket_public_access_block" "released" {
  bucket                  = aws_s3_bucket.released.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_ownership_controls" "released" {
  bucket = aws_s3_bucket.released.id

  rule {
    object_ownership = "BucketOwnerEnforced"
  }
}

resource "aws_s3_bucket_versioning" "released" {
  bucket = aws_s3_bucket.released.id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "released" {
  bucket = aws_s3_bucket.released.id

  rule {
    bucket_key_enabled = true

    apply_server_side_encryption_by_default {
      sse_algorithm     = "aws:kms"
      kms_master_key_id = aws_kms_key.croupier.arn
    }
  }
}

resource "aws_s3_bucket_lifecycle_configuration" "released" {
  bucket = aws_s3_bucket.released.id

  rule {
    id     = "abandoned-uploads"
    status = "Enabled"

    filter {}

    abort_incomplete_multipart_upload {
      days_after_initiation = 1
    }
  }
}

data "aws_iam_policy_document" "released" {
  statement {
    sid       = "AnalyzerReads"
    actions   = ["s3:GetObject", "s3:ListBucket"]
    resources = [aws_s3_bucket.released.arn, "${aws_s3_bucket.released.arn}/*"]

    principals {
      type        = "AWS"
      identifiers = ["arn:aws:iam::${var.analyzer_account_id}:root"]
    }
  }

  statement {
    sid       = "OnlyOverTls"
    effect    = "Deny"
    actions   = ["s3:*"]
    resources = [aws_s3_bucket.released.arn, "${aws_s3_bucket.released.arn}/*"]

    principals {
      type        = "*"
      identifiers = ["*"]
    }

    condition {
      test     = "Bool"
      variable = "aws:SecureTransport"
      values   = ["false"]
    }
  }
}

resource "aws_s3_bucket_policy" "released" {
  bucket     = aws_s3_bucket.released.id
  policy     = data.aws_iam_policy_document.released.json
  depends_on = [aws_s3_bucket_public_access_block.released]
}
